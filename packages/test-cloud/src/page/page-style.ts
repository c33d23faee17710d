/** Colours follow the reader's own choice of light or dark. */
export const STYLE = `:root {
  color-scheme: light dark;
  --back: light-dark(#f7f7f5, #16181c);
  --card: light-dark(#ffffff, #1f2228);
  --sunk: light-dark(#f1f2f0, #181a1f);
  --text: light-dark(#1b1f24, #e8eaed);
  --soft: light-dark(#565d66, #a7aeb8);
  --line: light-dark(#dcdfe3, #343941);
  --accent: light-dark(#0b57b0, #7db3ff);
  --chosen: light-dark(#e3edf9, #27344a);
  --good: light-dark(#136c34, #6fd08c);
  --warn: light-dark(#8a5300, #f0b55a);
  --bad: light-dark(#b3261e, #ff9a90);
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body { margin: 0; background: var(--back); color: var(--text); font: 15px/1.45 system-ui, sans-serif; }
header { display: flex; flex-wrap: wrap; gap: 0.4rem 1.5rem; align-items: center; padding: 0.8rem 1.5rem; }
header p { margin: 0; flex: 1 1 12rem; color: var(--soft); }
h1 { font-size: 1.2rem; margin: 0; }
h2 { font-size: 1rem; margin: 0 0 0.5rem; }
h3 { font-size: 0.9rem; margin: 1rem 0 0.4rem; }
a { color: var(--accent); }
nav { display: flex; flex-wrap: wrap; gap: 0 0.25rem; padding: 0 1.5rem; border-bottom: 1px solid var(--line); }
nav a { padding: 0.45rem 0.8rem; color: var(--soft); text-decoration: none; border-bottom: 2px solid transparent; margin-bottom: -1px; }
nav a:hover { color: var(--text); }
nav a[aria-current] { color: var(--text); border-bottom-color: var(--accent); font-weight: 600; }
.count { font-variant-numeric: tabular-nums; color: var(--soft); font-weight: 400; font-size: 0.85em; }
main { display: grid; gap: 1.25rem; padding: 1.25rem 1.5rem; grid-template-columns: minmax(0, 1fr); align-items: start; }
main:has(#detail:not([hidden])) { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); }
section, aside { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 1rem; min-width: 0; }
aside { position: sticky; top: 1rem; max-height: calc(100vh - 2rem); overflow: auto; }
.scroll { overflow: auto; max-height: calc(100vh - 16rem); min-height: 6rem; }
#view-rules .scroll { max-height: 40vh; }
.bar { display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; align-items: center; margin-bottom: 0.5rem; }
.bar h2 { flex: 1 1 10rem; margin: 0; overflow-wrap: anywhere; }
.wide { flex: 1 1 14rem; display: flex; gap: 0.4rem; align-items: center; }
.wide input { flex: 1; min-width: 0; }
form label { font-size: 0.87rem; color: var(--soft); }
fieldset { border: 0; margin: 0 0 0.5rem; padding: 0; display: flex; gap: 1rem; font-size: 0.87rem; }
legend { float: left; padding: 0; margin-right: 1rem; }
.fields { display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; align-items: center; margin-bottom: 0.5rem; }
input, select, button, .button { font: inherit; font-size: 0.87rem; color: var(--text); background: var(--card); border: 1px solid var(--line); border-radius: 5px; padding: 0.2rem 0.5rem; }
input[inputmode='numeric'] { width: 5rem; }
input[type='checkbox'], input[type='radio'] { accent-color: var(--accent); }
input:user-invalid { border-color: var(--bad); }
input::placeholder { color: var(--soft); opacity: 0.85; }
button, .button { cursor: pointer; text-decoration: none; white-space: nowrap; }
button:hover, .button:hover { border-color: var(--accent); }
button[aria-pressed='true'] { background: var(--chosen); border-color: var(--accent); }
:focus-visible:not([tabindex='-1']) { outline: 2px solid var(--accent); outline-offset: 2px; }
[tabindex='-1'] { outline: none; }
table { border-collapse: collapse; width: 100%; font-size: 0.87rem; }
th { text-align: left; color: var(--soft); font-weight: 600; position: sticky; top: 0; background: var(--card); z-index: 1; }
th, td { padding: 0.25rem 0.75rem 0.25rem 0; border-bottom: 1px solid var(--line); white-space: nowrap; font-variant-numeric: tabular-nums; }
td.wrap { white-space: normal; overflow-wrap: anywhere; }
tr.chosen td, tr.chosen code, tr.chosen a { background: var(--chosen); }
code, pre { font: 0.82rem/1.5 ui-monospace, monospace; }
td code { color: var(--soft); }
td a code { color: inherit; }
pre { margin: 0; padding: 0.6rem; background: var(--sunk); border-radius: 5px; overflow: auto; max-height: 24rem; white-space: pre-wrap; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0.1rem 0.8rem; margin: 0; font-size: 0.82rem; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; font-family: ui-monospace, monospace; }
summary { cursor: pointer; font-size: 0.87rem; color: var(--soft); padding: 0.25rem 0; }
ol, ul { margin: 0.25rem 0; padding-left: 1.3rem; font-size: 0.87rem; overflow-wrap: anywhere; }
meter { width: 3.5rem; vertical-align: middle; margin-right: 0.4rem; }
del { color: var(--bad); }
ins { color: var(--good); text-decoration: none; }
.soft { color: var(--soft); font-size: 0.87rem; margin: 0.25rem 0; }
.good { color: var(--good); }
.warn { color: var(--warn); }
.bad { color: var(--bad); font-weight: 600; }
@media (max-width: 60rem) {
  header, nav, main { padding-left: 0.8rem; padding-right: 0.8rem; }
  main:has(#detail:not([hidden])) { grid-template-columns: minmax(0, 1fr); }
  main:has(#detail:not([hidden])) #views { display: none; }
  aside { position: static; max-height: none; }
  .scroll { max-height: 70vh; }
}
/* A phone shows whole paths; time, version, duration and id are in the detail of a request. */
@media (max-width: 40rem) {
  #view-requests tr > :first-child:not([colspan]), #view-requests tr > :nth-child(n + 5) { display: none; }
  #requests td.path { white-space: normal; overflow-wrap: anywhere; }
}
`;
