import { expect, it } from 'vitest';
import { highlight } from './highlight.js';

it('marks keys, strings, numbers and literals of JSON', () => {
  expect(highlight('{"a": "b", "c": -1.5, "d": null}').text).toBe(
    '{<span class="t-key">&quot;a&quot;</span>: <span class="t-string">&quot;b&quot;</span>, <span class="t-key">&quot;c&quot;</span>: <span class="t-number">-1.5</span>, <span class="t-key">&quot;d&quot;</span>: <span class="t-word">null</span>}',
  );
});

it('marks comments, but not parts of URLs', () => {
  expect(highlight('curl http://host/v2.1 # list').text).toBe(
    'curl http://host/v2.1 <span class="t-comment"># list</span>',
  );
});

it('keeps all characters of the code', () => {
  const code = 'x := `a "b`\n<tag> "unclosed \' \\';
  expect(highlight(code).text.replaceAll(/<[^>]*>/g, '')).toBe(
    code.replaceAll(
      /[<>"']/g,
      (character) => ({ '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' })[character] ?? '',
    ),
  );
});
