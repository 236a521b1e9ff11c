// The layers of ARCHITECTURE.md, executable. Imports go downwards only, and folders of one layer do not import each other.
const layers = [
  ['std', 'config', 'regex'],
  ['machinery', 'grpc'],
  ['storage', 'certificates', 'codec', 'typed', 'cel', 'patch', 'catalog', 'tracing'],
  ['structural-schema', 'expressions', 'kubeconfig-client', 'forwarding', 'remote-streams', 'pods', 'encryption'],
  ['cache', 'webhook-client'],
  ['registry'],
  ['auth', 'admission', 'aggregation', 'audit', 'flow', 'faults', 'custom-kinds', 'service-allocation'],
  ['modules', 'verbs'],
  ['client'],
  ['answers', 'metrics', 'openapi', 'console'],
  [
    'endpoints',
    'guards',
    'interceptors',
    'filters',
    'hooks',
    'connections',
    'reconcilers',
    'check',
    'explain',
    'history',
    'recording',
    'workers',
  ],
  ['logical-clusters'],
  ['assembly', 'agent'],
  ['testing'],
];
const http = ['endpoints', 'guards', 'interceptors', 'filters', 'hooks', 'connections'];
const room = (names) => `^src/(${names.join('|')})/`;
const test = '\\.(e2e-)?spec\\.ts$';

const upward = layers.slice(0, -1).map((names, layer) => ({
  name: `layer-${layer}-imports-down`,
  comment: 'A layer may import only the layers below it.',
  severity: 'error',
  from: { path: room(names), pathNot: test },
  to: {
    path: [room(layers.slice(layer + 1).flat()), '^src/[^/]+\\.ts$'],
    // The assembly creates the root module.
    ...(names.includes('assembly') && { pathNot: '^src/app\\.module\\.ts$' }),
  },
}));
const siblings = layers.flatMap((names) =>
  names.map((name) => ({
    name: `${name}-knows-no-sibling`,
    comment: 'Folders of one layer do not import each other; what they share belongs a layer below.',
    severity: 'error',
    from: { path: room([name]), pathNot: test },
    to: {
      path: room(names.filter((other) => other !== name && !(http.includes(name) && http.includes(other))).concat('-')),
    },
  })),
);

module.exports = {
  forbidden: [
    ...upward,
    ...siblings,
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'nest-stays-in-the-shell',
      comment: 'Only the HTTP rooms, *.module.ts and the composition root know Nest.',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: [room(http.concat('answers', 'assembly')), '\\.module\\.ts$', '^src/[^/]+\\.ts$', test],
      },
      to: { path: 'node_modules/(@nestjs|fastify)/' },
    },
    { name: 'no-barrels', severity: 'error', from: { path: '^src/' }, to: { path: '^src/.+/index\\.ts$' } },
    {
      name: 'no-tests-in-sources',
      severity: 'error',
      from: { path: '^(src|bench|scripts)/', pathNot: test },
      to: { path: `(${test}|^test/)` },
    },
    { name: 'no-undeclared-packages', severity: 'error', from: {}, to: { dependencyTypes: ['npm-no-pkg', 'unknown'] } },
    {
      name: 'no-dev-packages-in-sources',
      severity: 'error',
      from: { path: '^src/', pathNot: test },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'], pathNot: 'node_modules/@types/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'types', 'default'] },
  },
};
