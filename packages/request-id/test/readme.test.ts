import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ask } from '../../../testing/ask.js';

const CALLER = 'req-0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9';

describe('the first example of the README', () => {
  it('is the one that is run here', () => {
    const readme = readFileSync(join(import.meta.dirname, '..', 'README.md'), 'utf8');
    const example = readFileSync(join(import.meta.dirname, 'readme.example.ts'), 'utf8');
    expect(readme).toContain(`\`\`\`ts\n${example}\`\`\``);
  });

  it('answers as the README says', async () => {
    process.env.PORT = '0';
    const { app, server } = await import('./readme.example.js');
    server.close();
    const { body, headers } = await ask(app, { headers: { 'X-Service-Request-ID': CALLER } });
    expect(JSON.parse(body)).toEqual({
      local: headers['x-service-request-id'],
      global: CALLER,
      sendOn: { 'X-Service-Request-ID': CALLER },
    });
  });
});
