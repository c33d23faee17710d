import { GenericContainer, Wait } from 'testcontainers';
import { StartedTestCloudContainer } from './started-test-cloud-container.js';

/** The port of the cloud in the container. */
const PORT = 8774;

/** The maximum time until the container serves requests. The cloud itself starts in less than a second. */
const STARTUP_TIMEOUT_MS = 60_000;

/**
 * A container with a test cloud: compute, identity, image, network, volume and placement services.
 *
 * @example
 * ```ts
 * import { TestCloudContainer } from '@apistrata/testcontainers';
 *
 * const container = await new TestCloudContainer('test-cloud:0.1.0').withOptions('--preset', 'minimal').start();
 * Object.assign(process.env, await container.env());
 * await container.stop();
 * ```
 */
export class TestCloudContainer extends GenericContainer {
  /** @param image name of the image, with its tag */
  constructor(image: string) {
    super(image);
    this.withExposedPorts(PORT);
    this.withWaitStrategy(Wait.forHttp('/identity/v3', PORT));
    this.withStartupTimeout(STARTUP_TIMEOUT_MS);
  }

  /** Adds options of the test cloud's command, such as `withOptions('--pace', 'realistic')`. The image sets the port and the host. */
  withOptions(...options: string[]): this {
    const forbidden = options.find((option) => /^--(?:port|host)(?:=|$)/.test(option));
    if (forbidden)
      throw new TypeError(`Option ${forbidden} is not allowed: the container publishes port ${PORT} of the image.`);
    return this.withCommand([...(this.createOpts.Cmd ?? []), ...options]);
  }

  /** Starts the container. Resolves when the cloud serves requests. */
  override async start(): Promise<StartedTestCloudContainer> {
    return new StartedTestCloudContainer(await super.start(), PORT);
  }
}
