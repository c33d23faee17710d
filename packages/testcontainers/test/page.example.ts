import { TestCloudContainer } from '@apistrata/testcontainers';

const container = await new TestCloudContainer('test-cloud:0.1.0').start();
Object.assign(process.env, await container.env());
