// Generates the configuration reference from the option tables and the configuration schema of the reference server.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './links.mjs';

const SCHEMA = 'docs/operating/config.schema.json';

const cell = (text) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ');
const code = (value) => `\`${value}\``;

/** Returns a description of the values that an option accepts. */
function valuesOf({ type, enum: choices, minimum, maximum, properties, items }) {
  if (choices) return choices.map(code).join(', ');
  if (type === 'boolean') return 'flag';
  if (type === 'array') return `list of ${items.enum ? items.enum.map(code).join(', ') : `${items.type}s`}`;
  if (properties) return `\`NAME=N\`: ${Object.keys(properties).map(code).join(', ')}`;
  const range = [minimum, maximum].filter((bound) => bound !== undefined).join(' to ');
  return [type, range].filter(Boolean).join(', ');
}

function defaultOf({ default: value }) {
  if (value === undefined || value === false || (typeof value === 'object' && Object.keys(value).length === 0))
    return '';
  return code(Array.isArray(value) ? value.join(', ') : String(value));
}

function row(name, kind, schema) {
  const cells = [
    `\`--${name}\``,
    schema ? valuesOf(schema) : 'command line only',
    schema ? defaultOf(schema) : '',
    kind.help,
  ];
  return `| ${cells.map(cell).join(' | ')} |`;
}

/** Returns the page. */
export function configurationPage({ optionGroups }) {
  const { properties } = JSON.parse(readFileSync(join(ROOT, SCHEMA), 'utf8'));
  const sections = Object.entries(optionGroups).map(([title, options]) => {
    const rows = Object.entries(options).map(([name, kind]) => row(name, kind, properties[name]));
    return `## ${title}\n\n| option | values | default | description |\n|---|---|---|---|\n${rows.join('\n')}\n`;
  });
  return `# Configuration

All options of the reference server. Each can be set in four places; a later one overrides an earlier one:

1. the default
2. the YAML or JSON file that \`--config\` names: \`port: 8774\` ([schema](${SCHEMA.replace('docs/', '/')}), for completion in editors)
3. an environment variable: \`--log-level\` is \`APISTRATA_LOG_LEVEL\`
4. the command line: \`--port 8774\`

\`--check-config\` validates all of them and exits. Unknown options are rejected with the nearest valid name.

${sections.join('\n')}`;
}
