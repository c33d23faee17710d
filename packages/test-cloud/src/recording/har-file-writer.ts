import { type FileHandle, open } from 'node:fs/promises';
import { CREATOR, type HarEntry } from './har.js';

const FILE_START = `{"log":{"version":"1.2","creator":${JSON.stringify(CREATOR)},"entries":[`;
const FILE_END = '\n]}}\n';

/** Writes a HAR file that is complete after each entry, so that the file is readable whenever the process ends. */
export class HarFileWriter {
  readonly #file: FileHandle;
  #position = Buffer.byteLength(FILE_START);
  #count = 0;
  #last: Promise<void> = Promise.resolve();

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Creates or replaces the file. Only its owner can read it, because a cloud's responses are confidential. */
  static async create(path: string): Promise<HarFileWriter> {
    const file = await open(path, 'w', 0o600);
    try {
      await file.write(`${FILE_START}${FILE_END}`, 0);
    } catch (error) {
      await file.close();
      throw error;
    }
    return new HarFileWriter(file);
  }

  /** Appends an entry. Rejects if the entry cannot be written; other entries stay intact. */
  add(entry: HarEntry): Promise<void> {
    const appended = this.#last.then(() => this.#append(entry));
    this.#last = appended.catch(() => {});
    return appended;
  }

  async #append(entry: HarEntry): Promise<void> {
    const text = `${this.#count === 0 ? '' : ','}\n${JSON.stringify(entry)}`;
    try {
      await this.#file.write(`${text}${FILE_END}`, this.#position);
    } catch (error) {
      // The file may contain part of the failed entry.
      await this.#file.write(FILE_END, this.#position);
      await this.#file.truncate(this.#position + Buffer.byteLength(FILE_END));
      throw error;
    }
    this.#position += Buffer.byteLength(text);
    this.#count++;
  }

  get count(): number {
    return this.#count;
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#file.close();
  }
}
