/**
 * The style of the page: one column that fits a phone, tables that turn into cards there, light and dark as the reader's
 * system is. Nothing is loaded from elsewhere.
 */
export const PAGE_STYLE = `<STYLE>
:root { color-scheme: light dark; --text: #1b2430; --dim: #5b6675; --paper: #f5f6f8; --card: #fff; --line: #d9dee5;
  --ok: #17703a; --ok-paper: #e3f4e9; --slow: #855700; --slow-paper: #fdf2d8; --bad: #b3201f; --bad-paper: #fde5e4 }
@media (prefers-color-scheme: dark) { :root { --text: #e4e8ee; --dim: #97a3b4; --paper: #12161c; --card: #1a2029;
  --line: #313a47; --ok: #6bd693; --ok-paper: #12301f; --slow: #f0bd56; --slow-paper: #35290d; --bad: #ff8a84;
  --bad-paper: #3d1614 } }
* { box-sizing: border-box }
BODY { margin: 0 auto; padding: 1.25rem; max-width: 64rem; color: var(--text); background: var(--paper);
  font: 16px/1.5 system-ui, sans-serif }
HEADER { padding: .75rem 1rem; border-radius: .5rem; border-left: .375rem solid; font-weight: 600; font-size: 1.25rem }
HEADER SMALL { display: block; font-size: .875rem; font-weight: 400; color: var(--text) }
.available { --state: var(--ok); --state-paper: var(--ok-paper) }
.degraded { --state: var(--slow); --state-paper: var(--slow-paper) }
.unavailable { --state: var(--bad); --state-paper: var(--bad-paper) }
HEADER { color: var(--state); background: var(--state-paper) }
H1 { margin: 1.5rem 0 .5rem; font-size: 1.25rem }
H2 { margin: 1.5rem 0 .5rem; font-size: 1.0625rem }
HR { display: none }
B { display: block; margin-top: .5rem; font-size: .8125rem; font-weight: 400; color: var(--dim) }
PRE { margin: 0; overflow-x: auto; font: .8125rem/1.45 ui-monospace, monospace }
TABLE { width: 100%; font: inherit; color: inherit; border: 1px solid var(--line); border-radius: .5rem; border-spacing: 0; overflow: hidden;
  background: var(--card) }
TH { text-align: left; font-size: .8125rem; font-weight: 400; color: var(--dim) }
TH, TD { padding: .5rem .75rem; border: 0; vertical-align: top; overflow-wrap: break-word }
TD { border-top: 1px solid var(--line) }
.stacks { table-layout: fixed }
.stacks TR:first-child TD { border-top: 0 }
.results TR[class] TD:first-child { box-shadow: inset .25rem 0 var(--state) }
.results TD:nth-child(1), .detailed TD:nth-child(2), .named TD:nth-child(2), .named.detailed TD:nth-child(3)
  { color: var(--state); font-weight: 600 }
.results.named TD:nth-child(1) { color: var(--text) }
.detailed:not(.named) TD:nth-child(1), .named.detailed TD:nth-child(2), .named.detailed TD:nth-child(n+5)
  { color: var(--dim); font-weight: 400 }
HEADER UL { margin: .5rem 0 0; padding-left: 1.25rem; font-size: .9375rem }
LI { color: var(--state) }
SMALL { font-size: .8125rem; color: var(--dim) }
@media (max-width: 36rem) {
  BODY { padding: .75rem }
  .results, .results TBODY { display: block }
  .results TR:not([class]) { display: none }
  .results TR { display: block; padding: .5rem .75rem; border-top: 1px solid var(--line);
    box-shadow: inset .25rem 0 var(--state) }
  .results TR[class] TD { display: block; padding: 0; border: 0; box-shadow: none; overflow-wrap: anywhere }
  .results TR[class] TD:first-child { box-shadow: none; font-weight: 600 }
  .detailed:not(.named) TD:nth-child(1), .named.detailed TD:nth-child(2), .results TD:empty { display: none }
}
</STYLE>`;
