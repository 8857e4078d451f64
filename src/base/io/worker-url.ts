/**
 * Where a worker's file is: beside `base` (pass `import.meta.url`), with the ending that `base` itself has. The compiler
 * rewrites the endings of imports but not those of URLs, so `new URL("./x.ts", …)` would be missing from a build.
 */
export function workerUrl(base: string, name: string): URL {
  const ending = new URL(base).pathname.endsWith(".ts") ? ".ts" : ".js";
  return new URL(`./${name}${ending}`, base);
}
