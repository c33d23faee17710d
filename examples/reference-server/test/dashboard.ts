import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const operating = join(import.meta.dirname, '../../../docs/operating');

/** The file with the alert rules. */
export const ALERT_RULES = join(operating, 'alert-rules.yaml');

interface Panel {
  /** The queries of a panel; undefined for dashboard rows. */
  readonly targets?: readonly { readonly expr: string }[];
}

interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly any[] };
}

const { panels, templating }: Dashboard = JSON.parse(readFileSync(join(operating, 'grafana-dashboard.json'), 'utf8'));

/** The expressions in the dashboard, which contain dashboard variables. */
export const dashboardExpressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

/** The variables of the dashboard whose values are queried, by name. */
export const dashboardVariables: ReadonlyMap<string, string> = new Map(
  templating.list.filter(({ type }) => type === 'query').map(({ name, query }) => [name, query.query]),
);

/** The alert rules. */
export const alertRules: readonly { readonly alert: string; readonly expr: string }[] = parse(
  readFileSync(ALERT_RULES, 'utf8'),
).groups.flatMap(({ rules }: any) => rules);
