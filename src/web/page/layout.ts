import { type Html, html } from "../html.ts";

/** The frame of every page. */
export function layout(title: string, basePath: string, content: Html): Html {
  const base = basePath === "/" ? "" : basePath;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="${base}/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${base}/style.css">
</head>
<body>
<main>
${content}
</main>
</body>
</html>
`;
}
