import { byId, cell, code, element, fill } from './elements.js';
import { requestJson } from './server-data.js';

const text = (value) => (typeof value === 'string' ? value : JSON.stringify(value));
const words = (fields) =>
  Object.entries(fields)
    .map(([name, value]) => (value === true ? name : `${name} ${text(value)}`))
    .join(', ');

let refresh = async () => {};

async function change(method, path) {
  await requestJson(method, path);
  await refresh();
}

/** @param rules as the cloud lists them: `{ id, calls, http | machine }` */
export function showRules(rules, control) {
  fill('rules', rules, {
    key: ({ id }) => id,
    columns: 6,
    empty: 'No rules',
    cells: ({ id, calls, http, machine }) => {
      const { match, ...effect } = http ?? machine;
      return [
        cell(id),
        cell(http ? 'requests' : 'machines'),
        cell(code(words(match) || 'everything'), 'wrap'),
        cell(code(words(effect) || 'no effect'), 'wrap'),
        cell(String(calls)),
        cell(
          control && [
            machine?.hang &&
              element(
                'button',
                {
                  type: 'button',
                  'aria-label': `Resume the steps that rule ${id} suspends`,
                  onclick: () => change('POST', `/_control/rules/${id}/release`),
                },
                'Resume',
              ),
            element(
              'button',
              {
                type: 'button',
                'aria-label': `Remove rule ${id}`,
                onclick: () => change('DELETE', `/_control/rules/${id}`),
              },
              'Remove',
            ),
          ],
        ),
      ];
    },
  });
}

const kindOf = () => new FormData(byId('rule-form')).get('kind');

function showKind() {
  for (const part of byId('rule-form').querySelectorAll('[data-kind]')) part.hidden = part.dataset.kind !== kindOf();
}

/** Returns the fields that have a value. */
function nonEmptyFields(fields) {
  const present = Object.entries(fields).filter(([, value]) => value !== '' && value !== undefined && value !== null);
  return Object.fromEntries(present);
}

function ruleFromForm() {
  const form = new FormData(byId('rule-form'));
  const number = (name) => (form.get(name) ? Number(form.get(name)) : undefined);
  const checkedBox = (name) => (form.has(name) ? true : undefined);
  const timing = { delayMs: number('delayMs'), fromCall: number('fromCall'), times: number('times') };
  if (kindOf() === 'machine') {
    const match = nonEmptyFields({ verb: form.get('verb'), name: form.get('name') });
    return { machine: { match, ...nonEmptyFields({ fail: form.get('fail'), hang: checkedBox('hang'), ...timing }) } };
  }
  const match = nonEmptyFields({ method: form.get('method'), path: form.get('path') });
  const body = form.get('body') ? JSON.parse(form.get('body')) : undefined;
  return {
    http: {
      match,
      ...nonEmptyFields({
        status: number('status'),
        body,
        drop: checkedBox('drop'),
        apply: checkedBox('apply'),
        ...timing,
      }),
    },
  };
}

/** Fills the form with a rule that matches similar requests. */
export function ruleFromRequest({ match, status, times }) {
  const form = byId('rule-form');
  form.reset();
  for (const [name, value] of Object.entries({ ...match, status, times })) form.elements.namedItem(name).value = value;
  showKind();
  location.hash = '#rules';
  // The field can be selected only after the view is shown.
  setTimeout(() => form.elements.namedItem('status').select());
}

export function listenToRules(refreshPage) {
  refresh = refreshPage;
  const form = byId('rule-form');
  form.addEventListener('change', showKind);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const problem = byId('rule-problem');
    problem.textContent = '';
    try {
      await requestJson('POST', '/_control/rules', ruleFromForm());
      form.reset();
      showKind();
      await refresh();
    } catch (error) {
      problem.textContent = error instanceof SyntaxError ? `Invalid JSON: ${error.message}` : error.message;
    }
  });
}
