import { randomBytes } from '@apistrata/record-store';

const LETTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789';

/** Twelve letters and digits that are not mistaken for each other. */
export function generatePassword(): string {
  return Array.from(randomBytes(12), (byte) => LETTERS[byte % LETTERS.length]).join('');
}
