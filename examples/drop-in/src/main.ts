import { defaultsFrom, memoryStore, projectQuotas } from '@apistrata/quota';
import { createService } from './service.js';

const port = Number(process.env.PORT ?? 3000);
// A single process can keep quota usage in memory; several processes need a shared Redis or SQL database.
const quota = projectQuotas({
  preset: 'key-manager',
  store: memoryStore(),
  defaults: defaultsFrom({ quota_secrets: process.env.QUOTA_SECRETS ?? 3 }),
});
const { app, health } = createService(quota);

const server = app.listen(port, () => {
  const baseUrl = `http://localhost:${port}`;
  console.log(
    `curl ${baseUrl}/v1/secrets -H 'X-Project-Id: p1' -H 'Content-Type: application/json' -d '{"name": "a"}'`,
  );
  console.log(`curl ${baseUrl}/v1/quotas -H 'X-Project-Id: p1'`);
  console.log(`curl ${baseUrl}/v1/project-quotas -H 'X-Project-Id: p1' -H 'X-Roles: key-manager:service-admin'`);
  console.log(`curl ${baseUrl}/healthcheck`);
});

process.once('SIGTERM', () => {
  health.shutdown();
  server.close(() => process.exit());
});
