import type { Page } from 'playwright-core';
import type { Program } from './program.js';

/** Opens the operators’ page of a program with `--cloud`, and logs in as the administrator. */
export async function logIn(page: Page, program: Program): Promise<void> {
  const [, password = ''] = await program.printed(/^export OS_PASSWORD=(\S+)$/m);
  await page.goto(program.url);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('admin in admin').waitFor();
}
