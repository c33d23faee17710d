import { randomBytes } from '@apistrata/record-store';

const LETTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789';

/** Returns twelve letters and digits without similar characters. */
export function generatePassword(): string {
  return Array.from(randomBytes(12), (byte) => LETTERS[byte % LETTERS.length]).join('');
}
