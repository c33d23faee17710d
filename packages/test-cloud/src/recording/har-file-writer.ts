import { type FileHandle, open } from 'node:fs/promises';
import { CREATOR, type HarEntry } from './har.js';

const HEAD = `{"log":{"version":"1.2","creator":${JSON.stringify(CREATOR)},"entries":[`;
const TAIL = '\n]}}\n';

/** Writes a HAR file that is complete after every entry, so that it is readable whenever the process ends. */
export class HarFileWriter {
  readonly #file: FileHandle;
  #position = Buffer.byteLength(HEAD);
  #count = 0;
  #last: Promise<void> = Promise.resolve();

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Creates or replaces the file, readable only by its owner, because responses of a cloud are confidential. */
  static async create(path: string): Promise<HarFileWriter> {
    const file = await open(path, 'w', 0o600);
    try {
      await file.write(`${HEAD}${TAIL}`, 0);
    } catch (error) {
      await file.close();
      throw error;
    }
    return new HarFileWriter(file);
  }

  /** Appends an entry. Rejects if the file cannot be written. */
  add(entry: HarEntry): Promise<void> {
    this.#last = this.#last.then(async () => {
      const text = `${this.#count === 0 ? '' : ','}\n${JSON.stringify(entry)}`;
      await this.#file.write(`${text}${TAIL}`, this.#position);
      this.#position += Buffer.byteLength(text);
      this.#count++;
    });
    return this.#last;
  }

  get count(): number {
    return this.#count;
  }

  async close(): Promise<void> {
    await this.#last.catch(() => {});
    await this.#file.close();
  }
}
