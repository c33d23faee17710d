// Copies code, and remembers the tab that was selected for code of every page.
const KEY = 'code-tab';

function remembered() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

/** Selects the remembered tab in all tabs of an element that have it. */
export function restoreTabs(root = document) {
  const label = remembered();
  if (label === null) return;
  for (const input of root.querySelectorAll('.tabs[data-remember] input[type=radio]'))
    if (input.value === label) input.checked = true;
}

/** Writes a text to the clipboard, and shows that on the button for a moment. */
export async function copyText(text, button) {
  const { label } = button.dataset;
  button.dataset.label = label ?? button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = 'Copied';
  } catch {
    button.textContent = 'Not allowed';
  }
  setTimeout(() => {
    button.textContent = button.dataset.label;
  }, 1500);
}

document.addEventListener('change', ({ target }) => {
  if (!target.matches('.tabs[data-remember] input[type=radio]')) return;
  try {
    localStorage.setItem(KEY, target.value);
  } catch {
    // Storage is disabled: the choice lasts until the page is left.
  }
  for (const tabs of document.querySelectorAll('.tabs[data-remember]'))
    if (!tabs.contains(target)) restoreTabs(tabs.parentElement);
});

document.addEventListener('click', ({ target }) => {
  const button = target.closest?.('.copy');
  if (button) void copyText(button.parentElement.querySelector('code').textContent, button);
});

restoreTabs();
