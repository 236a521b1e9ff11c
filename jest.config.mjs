// Nest 12 and a few of its dependencies are ES modules, which Jest cannot require on Node 20:
// swc turns them, and our sources, into CommonJS for the tests.
const esmPackages = [
  '@nestjs',
  'file-type',
  'strtok3',
  'uint8array-extras',
  'token-types',
  '@tokenizer',
  'load-esm',
  'uid',
  'iterare',
  'cookie',
  '@borewit',
  'js-yaml',
];
const shared = {
  testEnvironment: 'node',
  transform: {
    '^.+\\.(ts|js|mjs)$': [
      '@swc/jest',
      {
        sourceMaps: 'inline',
        module: { type: 'commonjs' },
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true },
          keepClassNames: true,
        },
      },
    ],
  },
  transformIgnorePatterns: [`/node_modules/(?!(${esmPackages.join('|')})/)`],
  moduleNameMapper: {
    '^keelson/testing$': '<rootDir>/src/testing.ts',
    '^keelson/client$': '<rootDir>/src/client.ts',
    '^keelson$': '<rootDir>/src/index.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
};

export default {
  projects: [
    { ...shared, displayName: 'unit', testMatch: ['<rootDir>/src/**/*.spec.ts', '<rootDir>/scripts/**/*.spec.ts'] },
    { ...shared, displayName: 'contract', testMatch: ['<rootDir>/test/contract/**/*.spec.ts'] },
    {
      ...shared,
      displayName: 'e2e',
      testMatch: ['<rootDir>/test/!(contract)/**/*.spec.ts', '<rootDir>/examples/**/*.e2e-spec.ts'],
    },
  ],
  testSequencer: '<rootDir>/test/harness/slow-first.mjs',
  // A busy machine takes twenty times as long as a quiet one.
  testTimeout: 240_000,
};
