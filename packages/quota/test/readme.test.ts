import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import supertest from 'supertest';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../../testing/eventually.js';

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
    const readme = readFileSync(join(import.meta.dirname, '..', 'README.md'), 'utf8');
    const agent = supertest(app);
    const create = () => agent.post('/v1/secrets').set('X-Project-Id', 'p1');
    await create().expect(201);
    await create().expect(201);
    const refused = await create().expect(403);
    expect(readme).toContain(refused.text);
    const shown = await agent.get('/v1/quotas').set('X-Project-Id', 'p1').expect(200);
    expect(readme).toContain(shown.text);
    await agent.delete('/v1/secrets/1').set('X-Project-Id', 'p1').expect(204);
    await eventually(() => create().expect(201));
    const admin = { 'X-Project-Id': 'admins', 'X-Roles': 'key-manager:service-admin' };
    const set = agent
      .put('/v1/project-quotas/p1')
      .set(admin)
      .send({ project_quotas: { secrets: 3 } });
    await set.expect(204);
    await create().expect(201);
  });
});
