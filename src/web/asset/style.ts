/** Light or dark as the reader's system has it; system fonts, so nothing is fetched from elsewhere. */
export const styleCss = `:root {
  color-scheme: light dark;
  --paper: #fbfaf7; --ink: #1d2326; --soft: #5d676c; --line: #dcd9d0; --field: #f1efe8; --accent: #0b6e63; --warm: #8a5a00;
}
@media (prefers-color-scheme: dark) {
  :root { --paper: #14181a; --ink: #e6e4de; --soft: #9aa5a9; --line: #2c3437; --field: #1c2225; --accent: #5cc7b8; --warm: #e0b15a; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1.0625rem/1.6 system-ui, sans-serif; }
main { max-width: 46rem; margin: 0 auto; padding: 3.5rem 1.25rem 2.5rem; }
nav { margin: -1.75rem 0 2.25rem; font-size: .9375rem; }
nav a { display: inline-flex; gap: .6rem; align-items: center; color: var(--soft); text-decoration: none; overflow-wrap: anywhere; }
nav a:hover { color: var(--ink); }
nav img { flex: none; }
header { display: flex; gap: 1rem; align-items: center; margin-bottom: 1.25rem; }
header img { width: 3.25rem; height: 3.25rem; flex: none; }
header.repo { display: block; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.125rem; margin: 2.25rem 0 .5rem; }
p { margin: .5rem 0; overflow-wrap: anywhere; text-wrap: pretty; }
a { color: var(--accent); text-underline-offset: .15em; }
code, pre, .key, .refs .name { font: .9375rem/1.5 ui-monospace, monospace; overflow-wrap: anywhere; }
pre { background: var(--field); border: 1px solid var(--line); border-radius: .5rem; padding: .75rem 1rem; margin: .5rem 0 1rem; white-space: pre-wrap; word-break: break-all; }
pre code { user-select: all; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .5rem 1.5rem; margin: 1.75rem 0; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; min-width: 0; }
ul { list-style: none; margin: .5rem 0; padding: 0; }
summary { color: var(--accent); cursor: pointer; margin: .5rem 0; }
.card, .notice { border: 1px solid var(--line); border-radius: .75rem; padding: 1.125rem 1.25rem; }
.notice { border-left: .25rem solid var(--warm); margin: 1.75rem 0; }
.notice h2 { margin-top: 0; }
.notice pre:last-child, .notice p:last-child { margin-bottom: 0; }
.lead { font-size: 1.1875rem; line-height: 1.5; margin: 0 0 1rem; }
.lead bdi { white-space: pre-line; }
h1 + .lead { margin-top: .75rem; }
.by { color: var(--soft); margin: .5rem 0 1.25rem; }
.soft, .count { color: var(--soft); font-weight: normal; }
.soft { font-size: .9375rem; }
.badge { border: 1px solid var(--line); border-radius: 1rem; color: var(--soft); display: inline-block; font-size: .8125rem; line-height: 1.5; padding: 0 .6rem; white-space: nowrap; }
.badge.good { border-color: var(--accent); color: var(--accent); }
.badge.wait { border-color: var(--warm); color: var(--warm); }
.refs li { border-top: 1px solid var(--line); display: flex; gap: .75rem; align-items: baseline; padding: .4rem 0; }
.refs li:last-child { border-bottom: 1px solid var(--line); }
.refs .name { min-width: 0; }
.refs .oid { color: var(--soft); margin-left: auto; flex: none; }
.keys li, .links li { padding: .15rem 0; overflow-wrap: anywhere; }
.steps { margin: .5rem 0 1rem; padding-left: 1.5rem; }
.steps li::marker { color: var(--soft); }
.steps p { margin: .75rem 0 .25rem; }
footer { border-top: 1px solid var(--line); color: var(--soft); font-size: .9375rem; margin-top: 3rem; padding-top: 1rem; }
@media (max-width: 36rem) {
  main { padding-top: 2.5rem; }
  nav { margin-top: -1rem; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: .75rem; }
  dd:last-child { margin-bottom: 0; }
}
`;
