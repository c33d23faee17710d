import { Accounts } from './accounts.js';
import { createApi } from './api.js';

const accounts = new Accounts();
accounts.add('key-of-acme', 'Acme, a customer since the first day', '2023-11-01');
accounts.add('key-of-globex', 'Globex, a new customer');

const port = Number(process.env.PORT ?? 3000);
createApi({ accounts }).listen(port, '127.0.0.1', () => {
  const baseUrl = `http://127.0.0.1:${port}`;
  console.log(`Documentation: ${baseUrl}/docs`);
  console.log(`curl ${baseUrl}/invoices -H 'Authorization: Bearer key-of-acme'`);
  console.log(`curl ${baseUrl}/invoices -H 'Authorization: Bearer key-of-acme' -H 'Invoices-Version: 2026-06-30'`);
});
