/** Colours follow the reader's own choice of light or dark. */
export const STYLE = `:root {
  color-scheme: light dark;
  --back: light-dark(#f7f7f5, #16181c);
  --card: light-dark(#ffffff, #1f2228);
  --text: light-dark(#1b1f24, #e8eaed);
  --soft: light-dark(#565d66, #a7aeb8);
  --line: light-dark(#dcdfe3, #343941);
  --accent: light-dark(#0b57b0, #7db3ff);
  --good: light-dark(#136c34, #6fd08c);
  --bad: light-dark(#b3261e, #ff9a90);
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text); font: 15px/1.45 system-ui, sans-serif; }
header { display: flex; flex-wrap: wrap; gap: 0.25rem 1.5rem; align-items: baseline; padding: 1rem 1.5rem; border-bottom: 1px solid var(--line); }
header p { margin: 0; flex: 1; color: var(--soft); }
h1 { font-size: 1.3rem; margin: 0; }
h2 { font-size: 1rem; margin: 0 0 0.5rem; }
main { display: grid; gap: 1.25rem; padding: 1.25rem 1.5rem; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); }
section { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 1rem; min-width: 0; }
section:nth-of-type(3), #unserved-section { grid-column: 1 / -1; }
.scroll { overflow: auto; max-height: 45vh; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
table { border-collapse: collapse; width: 100%; font-size: 0.87rem; }
th { text-align: left; color: var(--soft); font-weight: 600; position: sticky; top: 0; background: var(--card); }
th, td { padding: 0.25rem 0.75rem 0.25rem 0; border-bottom: 1px solid var(--line); white-space: nowrap; }
code { font: 0.82rem ui-monospace, monospace; color: var(--soft); }
meter { width: 3.5rem; vertical-align: middle; margin-right: 0.4rem; }
.good { color: var(--good); }
.bad { color: var(--bad); font-weight: 600; }
@media (max-width: 60rem) { main { grid-template-columns: minmax(0, 1fr); } }
`;
