import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { testQuotaStore } from '@apistrata/quota/testing';
import { describe, expect, it } from 'vitest';
import { documentStore } from './document-store.example.js';

/** A document that, like a real service, responds asynchronously and rejects outdated writes. */
function documents() {
  let current = { text: '', version: 0 };
  let writes = 0;
  const later = () => new Promise((resolve) => setImmediate(resolve));
  return {
    async read() {
      await later();
      return current;
    },
    async write(text: string, version: number) {
      await later();
      // Simulates occasional writes of another process.
      if (++writes % 5 === 0) current = { ...current, version: current.version + 1 };
      if (version !== current.version) return false;
      current = { text, version: version + 1 };
      return true;
    },
  };
}

testQuotaStore({ describe, it, name: 'the example store', open: ({ clock }) => documentStore(documents(), clock) });

describe('the guide to custom stores', () => {
  it('contains the store of this test', () => {
    const page = readFileSync(join(import.meta.dirname, '../../../docs/writing-a-store.md'), 'utf8');
    const example = readFileSync(join(import.meta.dirname, 'document-store.example.ts'), 'utf8');
    expect(page).toContain(`\`\`\`ts\n${example}\`\`\``);
  });
});
