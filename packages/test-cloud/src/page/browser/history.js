import { code, element, timeOf } from './elements.js';

function step({ name, host, result, durationMs, details }) {
  const took = durationMs === null ? '' : `, ${durationMs} ms`;
  const suffix = host ? ` on ${host}` : '';
  const resultClass = result === 'Success' ? 'good' : result === 'Error' ? 'bad' : 'warn';
  return element(
    'li',
    {},
    code(name),
    `${suffix}${took}: `,
    element('span', { class: resultClass }, result),
    details ? ` (${details})` : '',
  );
}

/** Shows the actions on a server, with their steps. */
export function actionList(actions) {
  return element(
    'ol',
    { class: 'history' },
    ...actions.map(({ action, at, failed, requestId, steps }) =>
      element(
        'li',
        {},
        element('strong', { class: failed ? 'bad' : undefined }, action),
        ` at ${timeOf(at)}, `,
        code(requestId),
        element('ul', {}, ...steps.map(step)),
      ),
    ),
  );
}
