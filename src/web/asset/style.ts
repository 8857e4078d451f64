/** Light or dark as the reader's system has it; system fonts, so nothing is fetched from elsewhere. */
export const styleCss = `:root {
  color-scheme: light dark;
  --paper: #fbfaf7; --ink: #1d2326; --soft: #5d676c; --line: #dcd9d0; --field: #f1efe8; --accent: #0b6e63;
}
@media (prefers-color-scheme: dark) {
  :root { --paper: #14181a; --ink: #e6e4de; --soft: #9aa5a9; --line: #2c3437; --field: #1c2225; --accent: #5cc7b8; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1.0625rem/1.6 system-ui, sans-serif; }
main { max-width: 44rem; margin: 0 auto; padding: 3.5rem 1.25rem 2rem; }
header { display: flex; gap: 1rem; align-items: center; margin-bottom: 1.5rem; }
header img { width: 3.25rem; height: 3.25rem; flex: none; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.125rem; margin: 2.25rem 0 .5rem; }
p { margin: .5rem 0; overflow-wrap: anywhere; }
a { color: var(--accent); }
code, pre { font: .9375rem/1.5 ui-monospace, monospace; }
pre { background: var(--field); border: 1px solid var(--line); border-radius: .5rem; padding: .75rem 1rem; overflow-x: auto; margin: .5rem 0 1rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1.25rem; margin: .5rem 0; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
footer { border-top: 1px solid var(--line); color: var(--soft); font-size: .9375rem; margin-top: 3rem; padding-top: 1rem; }
@media (max-width: 30rem) { dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .5rem; } }
`;
