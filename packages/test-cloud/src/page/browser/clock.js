import { byId } from './elements.js';
import { requestJson } from './server-data.js';

export function showClock({ now, frozen }) {
  byId('clock').textContent = `${now.slice(0, 19).replace('T', ' ')} UTC${frozen ? ', frozen' : ''}`;
  byId('freeze').setAttribute('aria-pressed', String(frozen));
}

export function listenToClock() {
  const changeClock = async (body) => {
    const problem = byId('clock-problem');
    problem.textContent = '';
    try {
      showClock(await requestJson('POST', '/_control/clock', body));
    } catch (error) {
      problem.textContent = error.message;
    }
  };
  byId('freeze').addEventListener('click', () =>
    changeClock({ freeze: byId('freeze').getAttribute('aria-pressed') !== 'true' }),
  );
  byId('clock-form').addEventListener('submit', (event) => {
    event.preventDefault();
    return changeClock({ advance: byId('advance').value });
  });
}
