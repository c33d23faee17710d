import { compute, has } from './compute.js';
import { element } from './elements.js';

/** Non-empty if the machines have consoles that browsers can open. */
const { consoles } = document.documentElement.dataset;

const KINDS = [
  { label: 'Serial line', protocol: 'serial', type: 'serial' },
  { label: 'Screen', protocol: 'vnc', type: 'novnc' },
];

/** Returns the URL of a console's page. For serial consoles, the API returns only a WebSocket URL. */
function pageOf(url, type) {
  if (type !== 'serial') return url;
  const page = new URL(url.replace(/^ws/, 'http'));
  page.pathname = `${page.pathname.replace(/\/[^/]*$/, '')}/serial.html`;
  return page.href;
}

/** Returns the elements of a console, which opens on request, because only one visitor at a time can use a console. */
export function consoleParts(path) {
  if (!consoles || !has('2.6')) return [];
  const container = element('div', { class: 'console' });
  const problem = element('p', { class: 'bad', role: 'alert' });
  const open = async ({ label, protocol, type }) => {
    problem.textContent = '';
    try {
      const requested = { remote_console: { protocol, type } };
      const { remote_console: opened } = await compute('POST', `${path}/remote-consoles`, requested, '2.6');
      container.replaceChildren(element('iframe', { src: pageOf(opened.url, type), title: label }));
    } catch (error) {
      problem.textContent = error.message;
    }
  };
  const buttons = KINDS.map((kind) =>
    element('button', { type: 'button', onclick: () => void open(kind) }, kind.label),
  );
  return [element('h3', {}, 'Console'), element('p', { class: 'bar' }, ...buttons), problem, container];
}
