import { byId } from './elements.js';
import { ask } from './server-data.js';

export function showClock({ now, frozen }) {
  byId('clock').textContent = `${now.slice(0, 19).replace('T', ' ')} UTC${frozen ? ', frozen' : ''}`;
  byId('freeze').setAttribute('aria-pressed', String(frozen));
}

export function listenToClock() {
  const tell = async (body) => {
    const problem = byId('clock-problem');
    problem.textContent = '';
    try {
      showClock(await ask('POST', '/_control/clock', body));
    } catch (error) {
      problem.textContent = error.message;
    }
  };
  byId('freeze').addEventListener('click', () =>
    tell({ freeze: byId('freeze').getAttribute('aria-pressed') !== 'true' }),
  );
  byId('clock-form').addEventListener('submit', (event) => {
    event.preventDefault();
    return tell({ advance: byId('advance').value });
  });
}
