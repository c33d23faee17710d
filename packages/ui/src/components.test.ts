import { expect, it } from 'vitest';
import { codeBlock, tabs } from './components.js';

it('renders a radio button for each tab, and selects the first one', () => {
  const { text } = tabs(
    [
      { label: 'curl', content: 'one' },
      { label: 'Go', content: 'two' },
    ],
    { name: 'sample', label: 'Language', remembered: true },
  );
  expect(text).toContain('<input type="radio" name="sample" value="curl" checked>');
  expect(text).toContain('<input type="radio" name="sample" value="Go">');
  expect(text).toContain('data-remember');
});

it('escapes code', () => {
  expect(codeBlock('<script>', 'the sample').text).toContain('&lt;script&gt;');
});
