import { type Html, html } from "../html.ts";

const baseOf = (basePath: string): string => (basePath === "/" ? "" : basePath);

/** The frame of every page. */
export function layout(title: string, basePath: string, content: Html): Html {
  const base = baseOf(basePath);
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

/** The way back to the start, above every page but the start. */
export const top = (basePath: string, home: string): Html =>
  html`<nav><a href="${basePath}"><img src="${baseOf(basePath)}/icon.svg" alt="" width="24" height="24">${home.replace(/^https?:\/\/|\/$/g, "")}</a></nav>`;
