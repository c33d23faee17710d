export { type QuotaStoreSuite, testQuotaStore } from './test-quota-store.js';
