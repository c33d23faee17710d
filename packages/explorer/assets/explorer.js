// Functions of the pages that plain links and forms do not provide: changing the version in place, showing search
// results while a visitor types, and sending requests.

import { activateForms, restoreInput, saveInput } from './try.js';
import { restoreTabs } from './ui.js';

const root = document.documentElement;
const main = () => document.querySelector('main');

/** Expands the `details` elements that contain the target of the URL fragment, and scrolls to the target. */
function revealTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let each = target; each; each = each.parentElement?.closest('details'))
    if (each.matches('details')) each.open = true;
  target.scrollIntoView();
}

/** Replaces the placeholder origin in code samples with the origin of the server that serves these pages. */
function ownOrigin() {
  if (/^https?:/.test(root.dataset.server)) return;
  for (const code of document.querySelectorAll('.samples code')) {
    const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    while (walker.nextNode())
      walker.currentNode.data = walker.currentNode.data.replace('https://api.example.com', location.origin);
  }
}

/**
 * Adds change counts to the list of versions. The server needs more time to compute the counts than the list itself.
 */
async function addCounts() {
  const list = document.querySelector('[data-counts]');
  if (!list) return;
  try {
    const response = await fetch(list.dataset.counts);
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    const counted = page.querySelectorAll('.history .chips');
    for (const [index, place] of [...list.querySelectorAll('.chips')].entries()) place.replaceWith(counted[index]);
  } catch {
    // The error is ignored, because the list is useful without the counts.
  }
}

function wake() {
  restoreTabs();
  ownOrigin();
  activateForms();
  void addCounts();
}

/** Replaces the navigation, but keeps its open groups and its scroll position. */
function replaceSidebar(fresh) {
  const old = document.querySelector('.sidebar');
  const open = new Set([...old.querySelectorAll('details[open] > summary')].map(({ textContent }) => textContent));
  for (const summary of fresh.querySelectorAll('details > summary'))
    if (open.has(summary.textContent)) summary.parentElement.open = true;
  const { scrollTop } = old;
  const slider = old.querySelector('[data-slider]');
  fresh.querySelector('[data-slider]').replaceWith(slider.cloneNode());
  const children = [...fresh.childNodes];
  for (const child of [...old.childNodes]) if (child !== slider) child.remove();
  old.append(...children.filter((child) => !(child instanceof Element && child.matches('[data-slider]'))));
  old.scrollTop = scrollTop;
}

let loading;
/** Shows another page in place, keeping the scroll position and the keyboard focus. */
async function show(url, push) {
  loading?.abort();
  loading = new AbortController();
  try {
    const response = await fetch(url, { signal: loading.signal, headers: { Accept: 'text/html' } });
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    const state = saveInput();
    main().replaceWith(page.querySelector('main'));
    document.title = page.title;
    root.dataset.version = page.documentElement.dataset.version;
    replaceSidebar(page.querySelector('.sidebar'));
    for (const name of ['.top nav', '.search']) {
      const fresh = page.querySelector(name);
      const old = document.querySelector(name);
      if (fresh && old && !old.contains(document.activeElement)) old.replaceWith(fresh);
    }
    if (push) history.pushState(null, '', url);
    wake();
    restoreInput(state);
  } catch (error) {
    if (error.name !== 'AbortError') location.assign(url);
  }
}

/** Adds a slider to the list of versions. The slider and the list both open the page at the selected version. */
function addSlider() {
  const form = document.querySelector('[data-versions]');
  const select = form?.querySelector('select');
  const place = document.querySelector('[data-slider]');
  if (!select || !place) return;
  const range = Object.assign(document.createElement('input'), {
    type: 'range',
    min: 0,
    max: select.options.length - 1,
    value: select.selectedIndex,
  });
  range.setAttribute('aria-label', 'Version');
  range.setAttribute('aria-valuetext', select.value);
  place.append(range);
  const go = () => {
    const { href } = select.selectedOptions[0].dataset;
    // The pages of a static site are in different folders, so the relative URLs of one page are wrong in another.
    if (href !== undefined) return location.assign(href);
    const url = new URL(location.href);
    url.searchParams.set('version', select.value);
    // A page that describes one version has the version in its path.
    url.pathname = url.pathname.replace(/\/versions\/[^/]+$/, `/versions/${select.value}`);
    void show(url, true);
  };
  let timer;
  range.addEventListener('input', () => {
    select.selectedIndex = Number(range.value);
    range.setAttribute('aria-valuetext', select.value);
    clearTimeout(timer);
    timer = setTimeout(go, 120);
  });
  select.addEventListener('change', () => {
    range.value = select.selectedIndex;
    range.setAttribute('aria-valuetext', select.value);
    go();
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    go();
  });
}

addEventListener('popstate', async () => {
  await show(location.href, false);
  const select = document.querySelector('[data-versions] select');
  if (!select) return;
  select.value = root.dataset.version;
  const range = document.querySelector('[data-slider] input');
  if (range) range.value = select.selectedIndex;
});

addEventListener('hashchange', revealTarget);

addEventListener('keydown', (event) => {
  if (event.target.closest('input, textarea, select') || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === '/') {
    event.preventDefault();
    document.querySelector('.search input[type=search]').focus();
  } else if (event.key === 't') {
    const form = document.querySelector('#try');
    if (!form) return;
    event.preventDefault();
    form.open = true;
    form.querySelector('button[type=submit]').focus();
  }
});

/** Shows search results while a visitor types. */
let typing;
document.addEventListener('input', (event) => {
  if (!event.target.matches('.search input[type=search]') || 'static' in root.dataset) return;
  clearTimeout(typing);
  const { form } = event.target;
  typing = setTimeout(() => {
    const query = new URLSearchParams(new FormData(form));
    void show(`${form.action}?${query}`, !location.pathname.endsWith('/search'));
  }, 150);
});

addSlider();
wake();
revealTarget();
document.querySelector('.sidebar [aria-current]')?.scrollIntoView({ block: 'center' });
