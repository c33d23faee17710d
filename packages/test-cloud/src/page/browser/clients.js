import { byId, copy } from './elements.js';
import { requestJson } from './server-data.js';

/** Shows the settings with which clients connect to this cloud at the page's address. */
export async function showClients() {
  const { env, cloudsYaml } = await requestJson('GET', '/_page/clients');
  byId('client-env').textContent = env;
  byId('client-yaml').textContent = cloudsYaml;
}

export function listenToClients() {
  for (const button of document.querySelectorAll('[data-copies]'))
    button.addEventListener('click', () => copy(byId(button.dataset.copies).textContent, button));
}
