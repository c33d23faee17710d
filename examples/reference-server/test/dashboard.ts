import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const operating = join(import.meta.dirname, '../../../docs/operating');

/** The file with the rules of alerts. */
export const ALERT_RULES = join(operating, 'alert-rules.yaml');

interface Panel {
  /** Missing in rows. */
  readonly targets?: readonly { readonly expr: string }[];
}

interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly any[] };
}

const { panels, templating }: Dashboard = JSON.parse(readFileSync(join(operating, 'grafana-dashboard.json'), 'utf8'));

/** The expressions of the dashboard, with its variables. */
export const dashboardExpressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

/** The variables of the dashboard whose values are queried, by name. */
export const dashboardVariables: ReadonlyMap<string, string> = new Map(
  templating.list.filter(({ type }) => type === 'query').map(({ name, query }) => [name, query.query]),
);

/** The rules of the alerts. */
export const alertRules: readonly { readonly alert: string; readonly expr: string }[] = parse(
  readFileSync(ALERT_RULES, 'utf8'),
).groups.flatMap(({ rules }: any) => rules);
