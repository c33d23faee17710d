import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, copyFile, link, open, readdir, rename, rm, stat, statfs, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { Server } from '@apistrata/compute-engine';
import type { DriverServices } from '@apistrata/compute-engine/drivers';
import { type RunAs, runProgram } from '../programs/run-program.js';
import { QemuError } from '../qemu-error.js';
import { checkSpace } from '../volumes/check-space.js';
import { checkImageFile, parseDiskFormat } from './check-image-file.js';
import { exists } from './exists.js';

type Caller = Parameters<DriverServices['images']['get']>[0];

/** Returns the server's owner as a caller, on whose behalf the host reads images and networks. */
export function ownerOf({ userId, projectId }: Server) {
  return { userId, projectId, roles: [] };
}

export interface ImageCacheOptions {
  readonly folder: string;
  /** Whether other hosts also store images in the folder. */
  readonly shared: boolean;
  readonly images: DriverServices['images'];
  readonly qemuImg: string;
  readonly runAs: RunAs | undefined;
  /** The maximum total size of the cached files; default: half of the file system. */
  readonly maxBytes?: number | undefined;
}

/** The age at which an unchanged temporary file counts as abandoned. */
const ABANDONED_FILE_AGE_MS = 600_000;

/** How long an unused image stays in the cache. */
const RETENTION_MS = 24 * 3_600_000;

/** The maximum virtual size of an image if the flavor sets no limit. */
const MAX_DISK_BYTES = 2 ** 42;

/** A program from util-linux that runs another program with resource limits. */
const PRLIMIT_PROGRAM = '/usr/bin/prlimit';
const MAX_MEMORY_BYTES = 4 * 2 ** 30;
const MAX_CPU_SECONDS = 600;

/** The size of the blocks that `stat` counts. */
const BLOCK_BYTES = 512;
/** The minimum time for which an unused image stays in the cache, because a machine may be about to link it. */
const MIN_RETENTION_MS = 60_000;

/** A cache entry. Several entries can be hard links to the same file. */
interface CacheEntry {
  readonly path: string;
  readonly ino: number;
  readonly mtimeMs: number;
  readonly bytes: number;
}

/**
 * Returns the least recently used paths that must be removed to bring the cache within its limit and free
 * `bytesToFree`.
 */
function selectForEviction(entries: readonly CacheEntry[], maxBytes: number, bytesToFree: number): readonly string[] {
  const files = new Map(entries.map((entry) => [entry.ino, entry]));
  const totalBytes = [...files.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  let excess = Math.max(totalBytes - maxBytes, bytesToFree);
  const removedPaths: string[] = [];
  for (const { ino, bytes, mtimeMs } of [...files.values()].sort((a, b) => a.mtimeMs - b.mtimeMs)) {
    if (excess <= 0 || mtimeMs > Date.now() - MIN_RETENTION_MS) break;
    removedPaths.push(...entries.filter((entry) => entry.ino === ino).map(({ path }) => path));
    excess -= bytes;
  }
  return removedPaths;
}

/**
 * A cache of images, stored as raw backing files for machine disks. Each image is fetched only once, and images with
 * the same content and format are converted only once. Files are written under temporary names and then renamed, so
 * that several processes can share the folder.
 */
export class ImageCache {
  readonly #options: ImageCacheOptions;
  readonly #inProgress = new Map<string, Promise<void>>();

  constructor(options: ImageCacheOptions) {
    this.#options = options;
  }

  /**
   * Links an image's raw file into a machine's folder, so that the machine keeps the file after the cache evicts it.
   * The file must not be modified.
   *
   * @param maxBytes the size of the target disk; 0 is unlimited
   * @returns the size of the file in bytes
   * @throws QemuError `IMAGE_REJECTED` if the image is unusable, and the image service's errors
   */
  async linkImage(
    caller: Caller,
    imageId: string,
    target: string,
    maxBytes: number,
    signal: AbortSignal,
  ): Promise<number> {
    const path = await this.fetchImage(caller, imageId, maxBytes, signal);
    const { size } = await stat(path);
    checkSize(size, maxBytes);
    const now = new Date();
    await utimes(path, now, now);
    await rm(target, { force: true });
    await linkOrCopy(path, target);
    return size;
  }

  /** Fetches an image into the cache, unless it is cached already. Returns the path; throws like {@link linkImage}. */
  async fetchImage(caller: Caller, imageId: string, maxBytes: number, signal: AbortSignal): Promise<string> {
    const path = join(this.#options.folder, `${imageId}.raw`);
    if (!(await exists(path))) {
      await this.#runOnce(path, () => this.#fetchImage(caller, imageId, path, maxBytes, signal));
      await this.cleanUp();
    }
    return path;
  }

  /** Runs a function for a path; concurrent calls with the same path share one execution. */
  #runOnce(path: string, work: () => Promise<void>): Promise<void> {
    const inProgress = this.#inProgress.get(path) ?? work().finally(() => this.#inProgress.delete(path));
    this.#inProgress.set(path, inProgress);
    return inProgress;
  }

  async #fetchImage(
    caller: Caller,
    imageId: string,
    path: string,
    maxBytes: number,
    signal: AbortSignal,
  ): Promise<void> {
    const { images, folder, qemuImg, runAs } = this.#options;
    const image = await images.get(caller, imageId);
    const format = parseDiskFormat(image.diskFormat);
    await this.#evictFor(image.sizeBytes ?? 0);
    const downloadPath = join(folder, `${imageId}.${process.pid}-${randomUUID()}.part`);
    const convertedPath = `${downloadPath}.raw`;
    try {
      const digest = await saveContent(await images.download(caller, imageId), downloadPath, image.checksum, signal);
      // The name includes the format, because the same bytes are a different disk in another format. Otherwise, a file
      // that one user uploads as raw could become the disk that another user boots.
      const contentPath = join(folder, `sha256-${digest}-${format}.raw`);
      if (!(await exists(contentPath))) {
        checkSize(
          (await checkImageFile(downloadPath, format)) ?? (await this.#diskBytes(downloadPath, format, signal)),
          maxBytes,
        );
        if (format === 'raw') await rename(downloadPath, convertedPath);
        else {
          // The program that reads untrusted data can write only to this file.
          const target = await open(convertedPath, 'wx', 0o600);
          await target
            .chown(runAs?.uid ?? process.getuid?.() ?? 0, runAs?.gid ?? process.getgid?.() ?? 0)
            .finally(() => target.close());
          const args = ['convert', '-f', format, '-O', 'raw', downloadPath, convertedPath];
          await runProgram(...commandWithLimits(qemuImg, args, maxBytes || MAX_DISK_BYTES), { runAs, signal });
        }
        await chmod(convertedPath, 0o444);
        // A rename would replace the file of a concurrent download of the same content, which another process may be
        // linking.
        await link(convertedPath, contentPath).catch(ignoreExisting);
      }
      const linkPath = `${downloadPath}.link`;
      await link(contentPath, linkPath);
      await rename(linkPath, path);
      await rm(linkPath, { force: true });
    } finally {
      await rm(downloadPath, { force: true });
      await rm(convertedPath, { force: true });
    }
  }

  /** Removes unused images until enough disk space is free. @throws QemuError `DISK_FULL` */
  async #evictFor(bytes: number): Promise<void> {
    const { folder } = this.#options;
    const { bavail, bsize } = await statfs(folder);
    if (bytes > bavail * bsize) await this.cleanUp(bytes - bavail * bsize);
    await checkSpace(folder, bytes);
  }

  /** Returns the virtual size of a disk image, as reported by `qemu-img info`. */
  async #diskBytes(path: string, format: string, signal: AbortSignal): Promise<number> {
    const { qemuImg, runAs } = this.#options;
    const args = ['info', '-f', format, '--output=json', path];
    return JSON.parse(await runProgram(...commandWithLimits(qemuImg, args, 0), { runAs, signal }))['virtual-size'];
  }

  /**
   * Removes images that have not been used for a day, abandoned temporary files, and, if the cache exceeds its limit,
   * the least recently used images. Machines keep their images, because they have their own links.
   *
   * @param neededBytes the additional space to free
   */
  async cleanUp(neededBytes = 0): Promise<void> {
    const { folder, shared, maxBytes } = this.#options;
    const entries: CacheEntry[] = [];
    for (const name of await readdir(folder).catch(() => [])) {
      const path = join(folder, name);
      const stats = await stat(path).catch(() => undefined);
      if (!stats) continue;
      const { mtimeMs, ino, blocks } = stats;
      const isTemporary = name.includes('.part');
      if ((!shared && isAbandoned(name)) || mtimeMs < Date.now() - (isTemporary ? ABANDONED_FILE_AGE_MS : RETENTION_MS))
        await rm(path, { force: true });
      else if (!isTemporary) entries.push({ path, ino, mtimeMs, bytes: blocks * BLOCK_BYTES });
    }
    const { blocks, bsize } = await statfs(folder).catch(() => ({ blocks: 0, bsize: 0 }));
    for (const path of selectForEviction(entries, maxBytes ?? (blocks * bsize) / 2, neededBytes))
      await rm(path, { force: true });
  }
}

/** Returns a command that limits the memory, CPU time and file size of a program that reads uploaded images. */
function commandWithLimits(program: string, args: readonly string[], maxBytes: number): [string, readonly string[]] {
  if (!existsSync(PRLIMIT_PROGRAM)) return [program, args];
  return [
    PRLIMIT_PROGRAM,
    [`--as=${MAX_MEMORY_BYTES}`, `--cpu=${MAX_CPU_SECONDS}`, `--fsize=${maxBytes}`, program, ...args],
  ];
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

/** Creates a hard link to a file, or a copy if the target is on another file system. */
async function linkOrCopy(path: string, target: string): Promise<void> {
  try {
    await link(path, target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    await copyFile(path, `${target}.new`);
    await rename(`${target}.new`, target);
  }
}

/** Returns true for the temporary file of a process that no longer exists. */
function isAbandoned(name: string): boolean {
  const pid = /\.(\d+)-[^.]+\.part\b/.exec(name)?.[1];
  return pid !== undefined && !existsSync(`/proc/${pid}`);
}

function checkSize(bytes: number, maxBytes: number): void {
  const limitBytes = maxBytes || MAX_DISK_BYTES;
  if (bytes > limitBytes)
    throw new QemuError(
      'IMAGE_REJECTED',
      `the image contains a disk of ${bytes} bytes; the limit is ${limitBytes} bytes`,
    );
}

/** Saves the content that an image service sends, and verifies the checksum. Returns the hexadecimal SHA-256 digest. */
async function saveContent(
  content: AsyncIterable<Uint8Array>,
  path: string,
  checksum: string | null,
  signal: AbortSignal,
): Promise<string> {
  const [sha256, md5] = [createHash('sha256'), createHash('md5')];
  const file = await open(path, 'wx', 0o644);
  try {
    for await (const chunk of content) {
      signal.throwIfAborted();
      sha256.update(chunk);
      md5.update(chunk);
      await file.writeFile(chunk);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  if (checksum !== null && md5.digest('hex') !== checksum)
    throw new QemuError(
      'IMAGE_REJECTED',
      'the content from the image service does not match the checksum of the image',
    );
  return sha256.digest('hex');
}
