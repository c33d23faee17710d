import { compute, has, upTo } from './compute.js';
import { byId, element } from './elements.js';

/** The version of the request that the form sends. Since 2.37, a client can let the service choose the network. */
const VERSION = upTo('2.90');

function fillChoices(select, items, first = []) {
  const choices = [...first, ...items];
  const text = JSON.stringify(choices);
  if (select.dataset.choices === text) return;
  select.dataset.choices = text;
  const selected = select.value;
  select.replaceChildren(...choices.map((choice) => element('option', { value: choice.id }, choice.text)));
  if (items.some(({ id }) => id === selected)) select.value = selected;
}

const gib = (mib) => `${Math.round(mib / 102.4) / 10} GiB`;

/** Reads the choices for the fields of the form, and enables the form if images and flavors exist. */
export async function showChoices() {
  const form = byId('create').elements;
  const [{ images }, { flavors }, { networks }, { keypairs }] = await Promise.all([
    compute('GET', '/images/detail?status=ACTIVE'),
    compute('GET', '/flavors/detail'),
    compute('GET', '/os-networks'),
    compute('GET', '/os-keypairs'),
  ]);
  fillChoices(
    form.namedItem('image'),
    images.map(({ id, name }) => ({ id, text: name || id })),
  );
  fillChoices(
    form.namedItem('flavor'),
    flavors.map(({ id, name, vcpus, ram, disk }) => ({
      id,
      text: `${name} (${vcpus} CPU, ${gib(ram)}${disk > 0 ? `, disk ${disk} GiB` : ''})`,
    })),
  );
  fillChoices(
    form.namedItem('network'),
    networks.map(({ id, label }) => ({ id, text: label })),
    [{ id: '', text: 'Automatic' }, ...(has('2.37') ? [{ id: 'none', text: 'None' }] : [])],
  );
  fillChoices(
    form.namedItem('key'),
    keypairs.map(({ keypair: { name } }) => ({ id: name, text: name })),
    [{ id: '', text: 'None' }],
  );
  byId('create-button').disabled = images.length === 0 || flavors.length === 0;
  byId('create-note').textContent =
    images.length > 0 ? '' : 'There is no image yet: upload one with "openstack image create".';
}

/** Encodes the UTF-8 bytes of text as Base64. */
const encodeBase64 = (text) => btoa(String.fromCharCode(...new TextEncoder().encode(text)));

/**
 * Returns the networks of a new server. `Automatic` selects the project's network if there is exactly one; otherwise,
 * the service chooses the network.
 */
async function networksFor(choice) {
  if (choice === 'none') return 'none';
  if (choice !== '') return [{ uuid: choice }];
  const { networks } = await compute('GET', '/os-tenant-networks');
  const [only, another] = networks;
  if (only && !another) return [{ uuid: only.id }];
  return has('2.37') ? 'auto' : undefined;
}

async function create(form) {
  const { name, image, flavor, network, key, script } = Object.fromEntries(new FormData(form));
  const server = {
    name,
    imageRef: image,
    flavorRef: flavor,
    networks: await networksFor(network),
    key_name: key || undefined,
    user_data: script ? encodeBase64(script) : undefined,
  };
  await compute('POST', '/servers', { server }, VERSION);
}

/** @param {() => Promise<void>} refresh shows the new server */
export function listenToCreate(refresh) {
  const form = byId('create');
  form.addEventListener('focusin', ({ relatedTarget }) => {
    // Images and networks may have been added since the page was opened.
    if (!form.contains(relatedTarget)) void showChoices().catch(() => {});
  });
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const problem = byId('create-problem');
    problem.textContent = '';
    try {
      await create(form);
      form.elements.namedItem('name').value = '';
      await refresh();
    } catch (error) {
      problem.textContent = error.message;
    }
  });
}
