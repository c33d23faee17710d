/** The styles that the test cloud's page adds to those of `@apistrata/ui`. */
export const STYLE = `h1 { font-size: var(--size-3); }
h2 { font-size: var(--size-2); margin: 0 0 0.5rem; }
h3 { font-size: var(--size-1); margin: 1rem 0 0.4rem; }
.top { flex-wrap: wrap; }
.top p { margin: 0; flex: 1 1 12rem; color: var(--soft); font-size: var(--size-1); }
.views { display: flex; flex-wrap: wrap; gap: 0 0.25rem; padding: 0 1.5rem; border-bottom: 1px solid var(--line); }
.views a { padding: 0.45rem 0.8rem; color: var(--soft); text-decoration: none; border-bottom: 2px solid transparent; margin-bottom: -1px; }
.views a:hover { color: var(--text); }
.views a[aria-current] { color: var(--text); border-bottom-color: var(--accent); font-weight: 600; }
.count { font-variant-numeric: tabular-nums; color: var(--soft); font-weight: 400; font-size: 0.85em; }
main { display: grid; gap: 1.25rem; padding: 1.25rem 1.5rem; grid-template-columns: minmax(0, 1fr); align-items: start; }
main:has(#detail:not([hidden])) { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); }
section, aside { background: var(--ground); border: 1px solid var(--line); border-radius: var(--radius); padding: 1rem; min-width: 0; }
aside { position: sticky; top: 4.5rem; max-height: calc(100vh - 5.5rem); overflow: auto; }
.scroll { overflow: auto; max-height: calc(100vh - 16rem); }
#create ~ .scroll { max-height: max(20rem, 100vh - 26rem); }
#view-rules .scroll { max-height: 40vh; }
.bar { display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; align-items: center; margin-bottom: 0.5rem; }
.bar h2 { flex: 1 1 10rem; margin: 0; overflow-wrap: anywhere; }
.wide { flex: 1 1 14rem; display: flex; gap: 0.4rem; align-items: center; }
.wide input { flex: 1; min-width: 0; }
form label { font-size: 0.87rem; color: var(--soft); }
fieldset { border: 0; margin: 0 0 0.5rem; padding: 0; display: flex; gap: 1rem; font-size: 0.87rem; }
legend { float: left; padding: 0; margin-right: 1rem; }
.fields { display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; align-items: center; margin-bottom: 0.5rem; }
input[inputmode='numeric'] { width: 5rem; }
#rule-form input:user-invalid { border-color: var(--bad); }
th { text-align: left; color: var(--soft); font-weight: 600; position: sticky; top: 0; background: var(--ground); z-index: 1; }
th, td { padding: 0.25rem 0.75rem 0.25rem 0; border-bottom: 1px solid var(--line); white-space: nowrap; font-variant-numeric: tabular-nums; }
td.wrap { white-space: normal; overflow-wrap: anywhere; }
tr.chosen td, tr.chosen code, tr.chosen a { background: var(--accent-ground); }
td code { color: var(--soft); }
td a code { color: inherit; }
pre { margin: 0; padding: 0.6rem; background: var(--sunk); border-radius: 5px; overflow: auto; max-height: 24rem; white-space: pre-wrap; overflow-wrap: anywhere; }
dl:not(.facts) { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0.1rem 0.8rem; margin: 0; font-size: 0.82rem; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
dl:not(.facts) dd { font-family: ui-monospace, monospace; }
ol, ul { margin: 0.25rem 0; padding-left: 1.3rem; font-size: 0.87rem; overflow-wrap: anywhere; }
meter { width: 3.5rem; vertical-align: middle; margin-right: 0.4rem; }
del { color: var(--bad); }
ins { color: var(--good); text-decoration: none; }
.soft { color: var(--soft); font-size: 0.87rem; margin: 0.25rem 0; }
.bad { color: var(--bad); font-weight: 600; }
@media (max-width: 60rem) {
  .views, main { padding-left: 0.8rem; padding-right: 0.8rem; }
  .views { flex-wrap: nowrap; overflow-x: auto; white-space: nowrap; }
  main:has(#detail:not([hidden])) { grid-template-columns: minmax(0, 1fr); }
  main:has(#detail:not([hidden])) #views { display: none; }
  aside { position: static; max-height: none; }
  .scroll { max-height: 70vh; }
}
#create { margin-bottom: 1.25rem; padding-bottom: 0.75rem; border-bottom: 1px solid var(--line); }
#create .fields > label { display: grid; gap: 0.2rem; flex: 1 1 11rem; min-width: 0; grid-template-columns: minmax(0, 1fr); }
#create select { width: 100%; min-width: 0; }
#create .fields > button { align-self: end; }
#create details { margin-top: 0.4rem; }
#create summary { color: var(--soft); font-size: 0.87rem; margin-bottom: 0.5rem; }
#create h3 { margin-top: 0; }
.block { display: grid; gap: 0.2rem; }
#sign-in { display: grid; gap: 0.6rem; width: min(22rem, 100%); margin: 3rem auto; padding: 1.5rem; border: 1px solid var(--line); border-radius: var(--radius); background: var(--raised); }
#sign-in label { display: grid; gap: 0.2rem; }
#sign-in p { margin: 0; }
.signed-out #views > section:not(#view-about), .signed-out aside { display: none; }
#account { flex: 0 1 auto; display: flex; align-items: center; gap: 0.4rem; }
.log { max-height: 20rem; min-height: 4rem; }
.console iframe { width: 100%; height: 24rem; border: 1px solid var(--line); border-radius: var(--radius); background: #222; }
/* A phone shows names and whole paths; the other columns are in the detail. */
@media (max-width: 40rem) {
  .top { position: static; }
  #view-servers tr > :nth-child(3):not([colspan]), #view-servers tr > :last-child:not([colspan]) { display: none; }
  #view-requests tr > :first-child:not([colspan]), #view-requests tr > :nth-child(n + 5) { display: none; }
  #requests td.path { white-space: normal; overflow-wrap: anywhere; }
}
`;
