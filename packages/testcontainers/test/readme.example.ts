import { TestCloudContainer } from '@apistrata/testcontainers';

const cloud = await new TestCloudContainer('test-cloud:0.1.0').withOptions('--preset', 'minimal').start();
Object.assign(process.env, await cloud.env({ user: 'ada', project: 'lab' }));

// Clients of the compute API find the cloud by these variables. The next two requests fail:
const rule = await cloud.rule({ http: { match: { path: '/compute/v2.1/servers' }, status: 503, times: 2 } });

console.log(await rule.calls(), await cloud.requests({ status: '5xx' }));
await cloud.reset();
await cloud.stop();
