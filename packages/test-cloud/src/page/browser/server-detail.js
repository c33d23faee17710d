import { compute, upTo } from './compute.js';
import { consoleParts } from './consoles.js';
import { code, dateOf, element, pairs } from './elements.js';
import { actionList } from './history.js';
import { addressesOf, flavorOf, hostOf, stateChip, VERSION } from './servers.js';

/** The actions that a visitor can start on a server, with the states that allow them. */
const ACTIONS = [
  { label: 'Start', states: ['SHUTOFF'], body: { 'os-start': null } },
  { label: 'Stop', states: ['ACTIVE', 'ERROR'], body: { 'os-stop': null } },
  { label: 'Restart', states: ['ACTIVE'], body: { reboot: { type: 'SOFT' } } },
  { label: 'Reset', states: ['ACTIVE', 'SHUTOFF', 'ERROR'], body: { reboot: { type: 'HARD' } } },
];
const CONFIRM_MS = 15_000;
const SHOWN_ACTIONS = 10;
const SHOWN_LINES = 400;

/** Returns a button that calls `remove` only if a second click confirms the first one in time. */
function deleteButton(remove) {
  const button = element('button', { type: 'button', class: 'bad', 'data-deletes': true }, 'Delete');
  let armed;
  button.addEventListener('click', () => {
    if (armed === undefined) {
      button.textContent = 'Delete permanently?';
      armed = setTimeout(() => {
        armed = undefined;
        button.textContent = 'Delete';
      }, CONFIRM_MS);
      return;
    }
    clearTimeout(armed);
    armed = undefined;
    button.textContent = 'Delete';
    void remove();
  });
  return button;
}

/** Reads the latest actions of a server with their steps, newest first. */
async function historyOf(path) {
  const version = upTo('2.84');
  const { instanceActions } = await compute('GET', `${path}/os-instance-actions`, undefined, version);
  const latest = instanceActions.slice(0, SHOWN_ACTIONS);
  const all = await Promise.all(
    latest.map(({ request_id: id }) => compute('GET', `${path}/os-instance-actions/${id}`, undefined, version)),
  );
  return all.map(({ instanceAction }) => ({
    action: instanceAction.action,
    requestId: instanceAction.request_id,
    at: `${instanceAction.start_time}Z`,
    failed: instanceAction.message === 'Error',
    steps: (instanceAction.events ?? []).map((event) => ({
      name: event.event,
      host: event.host,
      details: event.details,
      result: event.result ?? 'in progress',
      durationMs: event.finish_time ? new Date(event.finish_time) - new Date(event.start_time) : null,
    })),
  }));
}

function factsOf(server) {
  const { id, image, key_name: key, created, user_id: user, fault } = server;
  return [
    ['Status', stateChip(server)],
    ['Addresses', addressesOf(server).join(', ') || '–'],
    ['Flavor', flavorOf(server)],
    ['Image', code(image?.id ?? 'none: boots from a volume')],
    ...(hostOf(server) ? [['Host', hostOf(server)]] : []),
    ...(key ? [['Key pair', key]] : []),
    ['Created', `${dateOf(created)} by ${user}`],
    ['Id', code(id)],
    ...(fault ? [['Fault', element('span', { class: 'bad' }, fault.message)]] : []),
  ];
}

/**
 * Returns the detail of a server: its state, console, log and history.
 *
 * @param {string} id
 * @param {boolean} [changes] whether the detail has buttons that change the server
 */
export async function serverDetail(id, changes = true) {
  const path = `/servers/${encodeURIComponent(id)}`;
  const read = async () => (await compute('GET', path, undefined, VERSION)).server;
  const server = await read();
  const facts = element('div');
  const bar = element('p', { class: 'bar' });
  const problem = element('p', { class: 'bad', role: 'alert' });
  const log = element('pre', { tabindex: 0, role: 'group', 'aria-label': 'Console output', class: 'log' });
  const logNote = element('p', { class: 'soft' });
  const history = element('div');

  async function run(work) {
    problem.textContent = '';
    try {
      await work();
    } catch (error) {
      problem.textContent = error.message;
    }
  }
  const buttons = ACTIONS.map(({ label, states, body }) => {
    const act = () =>
      run(async () => {
        await compute('POST', `${path}/action`, body);
        await update();
      });
    return { states, button: element('button', { type: 'button', onclick: act }, label) };
  });
  let isDeleting = false;
  const remove = () =>
    run(async () => {
      isDeleting = true;
      await compute('DELETE', path).catch((error) => {
        isDeleting = false;
        throw error;
      });
      location.hash = '#servers';
    });
  if (changes) bar.append(...buttons.map(({ button }) => button), deleteButton(remove));

  let shown = '';
  async function showLog() {
    const requested = { 'os-getConsoleOutput': { length: SHOWN_LINES } };
    const text = await compute('POST', `${path}/action`, requested).then(
      ({ output }) => output,
      (error) => {
        logNote.textContent = error.message;
      },
    );
    if (text === undefined || log.textContent === text) return;
    logNote.textContent = text === '' ? 'Nothing yet.' : '';
    const atEnd = log.scrollTop + log.clientHeight >= log.scrollHeight - 8;
    log.textContent = text;
    if (atEnd) log.scrollTop = log.scrollHeight;
  }
  async function show(current) {
    const state = JSON.stringify(current);
    if (state !== shown) {
      shown = state;
      facts.replaceChildren(pairs(factsOf(current)));
      const isIdle = current['OS-EXT-STS:task_state'] === null;
      for (const { states, button } of buttons) button.disabled = !(isIdle && states.includes(current.status));
      if (!isDeleting) history.replaceChildren(actionList(await historyOf(path)));
    }
    if (!isDeleting) await showLog();
  }
  /** Updates the detail, unless the server is being deleted: requests for a deleted server would fail. */
  const update = async () => {
    if (!isDeleting) await show(await read());
  };
  await show(server);
  return {
    title: server.name,
    update,
    content: [
      bar,
      problem,
      facts,
      ...consoleParts(path),
      element('h3', {}, 'Log'),
      logNote,
      log,
      element('h3', {}, 'History'),
      history,
    ],
  };
}
