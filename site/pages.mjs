// The pages of the site: their sources in the repository, their addresses, and their places in the navigation.

/** A page: its title in the navigation, its source file, and its address without a suffix. */
const page = (text, source, path) => ({ text, source, path });

const readme = (name) => page(name, `packages/${name}/README.md`, `packages/${name}`);

/** The areas of the site. Each area has an entry in the navigation bar, and a sidebar with its groups. */
export const areas = [
  {
    text: 'Guide',
    groups: [
      {
        text: 'Getting started',
        pages: [
          page('Where to start', 'docs/index.md', 'guide/index'),
          page('Quick start', 'README.md', 'guide/quick-start'),
        ],
      },
      {
        text: 'Concepts',
        pages: [
          page('What is a microversion?', 'docs/concepts/microversions.md', 'guide/microversions'),
          page('Windows', 'docs/concepts/windows.md', 'guide/windows'),
          page('Jobs and leases', 'docs/concepts/jobs-and-leases.md', 'guide/jobs-and-leases'),
          page('Exact quotas', 'docs/concepts/exact-quotas.md', 'guide/exact-quotas'),
        ],
      },
      {
        text: 'Tasks',
        pages: [
          page('Version an existing API', 'docs/guides/version-an-api.md', 'guide/version-an-api'),
          page('Upgrading a client', 'docs/guides/upgrading-a-client.md', 'guide/upgrading-a-client'),
          page('Checking OpenAPI documents', 'docs/guides/check-openapi-documents.md', 'guide/check-openapi-documents'),
          page('The small packages in each framework', 'docs/guides/frameworks.md', 'guide/frameworks'),
          page('CORS', 'docs/guides/cors.md', 'guide/cors'),
          page('Testing with Jest', 'docs/guides/testing-with-jest.md', 'guide/testing-with-jest'),
          page('Coming from another package', 'docs/guides/coming-from.md', 'guide/coming-from'),
        ],
      },
      {
        text: 'Comparisons',
        pages: [
          page('Versioned APIs', 'docs/comparisons/api-versions.md', 'guide/compare-api-versions'),
          page('Quotas and rate limits', 'docs/quota-and-rate-limits.md', 'guide/quotas-and-rate-limits'),
          page('Health endpoints', 'docs/comparisons/health-endpoints.md', 'guide/compare-health-endpoints'),
          page('Request IDs', 'docs/comparisons/request-ids.md', 'guide/compare-request-ids'),
          page('Clouds for tests', 'docs/comparisons/test-clouds.md', 'guide/compare-test-clouds'),
        ],
      },
      {
        text: 'Help',
        pages: [
          page('Questions and answers', 'docs/faq.md', 'guide/faq'),
          page('Troubleshooting', 'docs/troubleshooting.md', 'guide/troubleshooting'),
          page('Support and versions', 'docs/support.md', 'guide/support'),
        ],
      },
      {
        text: 'Extending',
        pages: [
          page('Adding an operation', 'docs/adding-an-operation.md', 'guide/adding-an-operation'),
          page('Adding a microversion', 'docs/adding-a-microversion.md', 'guide/adding-a-microversion'),
          page('Adding an action', 'docs/adding-an-action.md', 'guide/adding-an-action'),
          page('Adding a resource', 'docs/adding-a-resource.md', 'guide/adding-a-resource'),
          page('Writing a check', 'docs/writing-a-check.md', 'guide/writing-a-check'),
          page('Writing a quota store', 'docs/writing-a-store.md', 'guide/writing-a-store'),
          page('Writing a driver', 'docs/writing-a-driver.md', 'guide/writing-a-driver'),
          page('Writing a storage backend', 'docs/writing-a-storage-backend.md', 'guide/writing-a-storage-backend'),
        ],
      },
    ],
  },
  {
    text: 'Packages',
    groups: [
      {
        text: 'Middleware',
        pages: ['microversion', 'microversion-router', 'request-id', 'healthcheck', 'quota'].map(readme),
      },
      { text: 'Pages', pages: ['explorer', 'ui'].map(readme) },
      { text: 'Compute', pages: ['compute-router', 'compute-engine', 'catalogs', 'record-store'].map(readme) },
      { text: 'All packages', pages: [page('Dependencies', 'docs/dependencies.md', 'packages/dependencies')] },
    ],
  },
  {
    text: 'Test cloud',
    groups: [
      {
        text: 'Test cloud',
        pages: [
          page('The test cloud', 'packages/test-cloud/README.md', 'test-cloud/index'),
          page('By language', 'site/test-cloud-by-language.md', 'test-cloud/languages'),
          page('In CI', 'docs/test-cloud-in-ci.md', 'test-cloud/ci'),
          page('Clients', 'docs/test-cloud-clients.md', 'test-cloud/clients'),
          page('Testcontainers', 'packages/testcontainers/README.md', 'test-cloud/testcontainers'),
          page('Differences from OpenStack', 'docs/deviations.md', 'test-cloud/deviations'),
        ],
      },
    ],
  },
  {
    text: 'Operating',
    groups: [
      {
        text: 'Reference server',
        pages: [
          page('Operating', 'docs/operating.md', 'operating/index'),
          page('Configuration', 'examples/reference-server/src/options.ts', 'operating/configuration'),
          page('Policies', 'docs/policies.md', 'operating/policies'),
          page('Performance', 'docs/performance.md', 'operating/performance'),
          page('Scaling', 'docs/scaling.md', 'operating/scaling'),
        ],
      },
      {
        text: 'Observability',
        pages: [
          page('Metrics', 'docs/operating/metrics.md', 'operating/metrics'),
          page('Traces', 'docs/operating/traces.md', 'operating/traces'),
          page('Events', 'docs/operating/events.md', 'operating/events'),
        ],
      },
      {
        text: 'Real machines',
        pages: [
          page('Page for operators', 'docs/operating/operators-page.md', 'operating/operators-page'),
          page('A whole cloud', 'docs/whole-cloud.md', 'operating/whole-cloud'),
          page('A real cloud', 'docs/a-real-cloud.md', 'operating/a-real-cloud'),
          page('What hosts offer', 'docs/what-hosts-offer.md', 'operating/what-hosts-offer'),
          page('Machine options', 'docs/machine-tuning.md', 'operating/machine-tuning'),
          page('The QEMU driver', 'packages/qemu/README.md', 'packages/qemu'),
        ],
      },
    ],
  },
  {
    text: 'Reference',
    groups: [
      {
        text: 'Compute API',
        pages: [
          page('History of versions', 'docs/compute-api-history.md', 'reference/history'),
          page('What breaks between versions', 'site/what-breaks.md', 'reference/what-breaks'),
          page('Actions on servers', 'docs/actions.md', 'reference/actions'),
          page('Errors', 'docs/errors.md', 'reference/errors'),
        ],
      },
      {
        text: 'Packages',
        pages: [
          page('Names by entry point', 'testing/entry-points.txt', 'reference/api/index'),
          page('Changelog', '.changeset', 'reference/changelog'),
          page('Glossary', 'site/glossary.md', 'reference/glossary'),
        ],
      },
      {
        text: 'Project',
        pages: [
          page('Architecture', 'docs/architecture.md', 'reference/architecture'),
          page('Contributing', 'CONTRIBUTING.md', 'reference/contributing'),
          page('Style guide', 'docs/style.md', 'reference/style'),
          page('Test coverage', 'docs/coverage.md', 'reference/coverage'),
          page('Security', 'SECURITY.md', 'reference/security'),
        ],
      },
    ],
  },
];

/** All pages. */
export const pages = areas.flatMap(({ groups }) => groups.flatMap((group) => group.pages));

/** Returns the address of a page as it appears in links. */
export const addressOf = ({ path }) => `/${path.replace(/(^|\/)index$/, '$1')}`;
