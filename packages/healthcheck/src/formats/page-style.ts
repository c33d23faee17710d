/**
 * The style of the page: one column, tables as cards on phones, and colors that follow the system's light or dark mode.
 * The page loads nothing from other servers. The custom properties are the same as in `@apistrata/ui`, which this
 * package does not import: `testing/shared-style.test.ts` compares them.
 */
export const PAGE_STYLE = `<STYLE>
:root {
  color-scheme: light dark;
  --ground: light-dark(#ffffff, #0f1217);
  --raised: light-dark(#f6f8fa, #171b22);
  --line: light-dark(#dfe4ea, #2b323d);
  --text: light-dark(#1a2230, #e6eaf0);
  --soft: light-dark(#566273, #9ba7b7);
  --good: light-dark(#0f6b3c, #6fd69b);
  --good-ground: light-dark(#e3f5ea, #12301f);
  --warn: light-dark(#835000, #f0bd56);
  --warn-ground: light-dark(#fdf1d9, #35290d);
  --bad: light-dark(#b3241f, #ff9a92);
  --bad-ground: light-dark(#fdeae8, #3d1a17);
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  --radius: 0.5rem;
}
* { box-sizing: border-box }
BODY { margin: 0 auto; padding: 1.25rem; max-width: 64rem; color: var(--text); background: var(--ground);
  font: .9375rem/1.6 var(--sans) }
NAV { display: flex; flex-wrap: wrap; align-items: center; gap: .1rem; margin: -1.25rem 0 1.25rem; min-height: 3.5rem;
  border-bottom: 1px solid var(--line) }
NAV A { padding: .25rem .6rem; border-radius: 6px; color: var(--soft); font-size: .875rem; font-weight: 550; text-decoration: none }
NAV A:hover { color: var(--text); background: var(--raised) }
NAV A:first-child { margin-right: .65rem; padding-left: 0; color: inherit; font-size: inherit; font-weight: 650; background: none }
HEADER { padding: .75rem 1rem; border-radius: var(--radius); border-left: .375rem solid; font-weight: 600; font-size: 1.25rem }
HEADER SMALL { display: block; font-size: .875rem; font-weight: 400; color: var(--text) }
.available { --state: var(--good); --state-ground: var(--good-ground) }
.degraded { --state: var(--warn); --state-ground: var(--warn-ground) }
.unavailable { --state: var(--bad); --state-ground: var(--bad-ground) }
HEADER { color: var(--state); background: var(--state-ground) }
H1 { margin: 1.5rem 0 .5rem; font-size: 1.25rem }
H2 { margin: 1.5rem 0 .5rem; font-size: 1.0625rem }
HR { display: none }
B { display: block; margin-top: .5rem; font-size: .8125rem; font-weight: 400; color: var(--soft) }
PRE { margin: 0; overflow-x: auto; font: .8125rem/1.45 var(--mono) }
TABLE { width: 100%; font: inherit; color: inherit; border: 1px solid var(--line); border-radius: var(--radius); border-spacing: 0; overflow: hidden;
  background: var(--raised) }
TH { text-align: left; font-size: .8125rem; font-weight: 400; color: var(--soft) }
TH, TD { padding: .5rem .75rem; border: 0; vertical-align: top; overflow-wrap: break-word }
TD { border-top: 1px solid var(--line) }
.stacks { table-layout: fixed }
.stacks TR:first-child TD { border-top: 0 }
.results TR[class] TD:first-child { box-shadow: inset .25rem 0 var(--state) }
.results TD:nth-child(1), .detailed TD:nth-child(2), .named TD:nth-child(2), .named.detailed TD:nth-child(3)
  { color: var(--state); font-weight: 600 }
.results.named TD:nth-child(1) { color: var(--text) }
.detailed:not(.named) TD:nth-child(1), .named.detailed TD:nth-child(2), .named.detailed TD:nth-child(n+5)
  { color: var(--soft); font-weight: 400 }
HEADER UL { margin: .5rem 0 0; padding-left: 1.25rem; font-size: .9375rem }
LI { color: var(--state) }
SMALL { font-size: .8125rem; color: var(--soft) }
@media (max-width: 36rem) {
  BODY { padding: .75rem }
  NAV { margin-top: -.75rem }
  .results, .results TBODY { display: block }
  .results TR:not([class]) { display: none }
  .results TR { display: block; padding: .5rem .75rem; border-top: 1px solid var(--line);
    box-shadow: inset .25rem 0 var(--state) }
  .results TR[class] TD { display: block; padding: 0; border: 0; box-shadow: none; overflow-wrap: anywhere }
  .results TR[class] TD:first-child { box-shadow: none; font-weight: 600 }
  .detailed:not(.named) TD:nth-child(1), .named.detailed TD:nth-child(2), .results TD:empty { display: none }
}
</STYLE>`;
