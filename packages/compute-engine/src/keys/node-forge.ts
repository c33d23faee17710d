import { notSupported } from '../errors/rejection.js';

/**
 * Loads the library that creates certificates: an optional peer dependency, loaded on first use because few clients
 * need it.
 *
 * @throws Rejection `NOT_SUPPORTED` if it is not installed
 */
export async function loadNodeForge(load = () => import('node-forge')) {
  try {
    return (await load()).default;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw notSupported(
      'Key pairs of the type x509 cannot be generated: the package node-forge is not installed. Import a certificate instead.',
    );
  }
}
