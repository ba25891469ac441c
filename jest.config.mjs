// Three projects. `unit`: functions and parts, quick. `process`: *.process.test.ts, whole programs and many sockets, no cluster.
// `cluster`: *.cluster.test.ts, on a real kube-apiserver that local/jest-setup.ts starts once.
const common = {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/tools/strip-types.mjs' },
  moduleFileExtensions: ['ts', 'mjs', 'js', 'cjs', 'json'],
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/build/', '<rootDir>/coverage/'],
};

export default {
  // A machine may be busy; tests that wait have limits of their own.
  testTimeout: 60_000,
  coverageProvider: 'v8',
  collectCoverageFrom: [
    '{charts,crds,operator,local}/**/*.ts',
    'main.ts',
    'index.ts',
    '!**/*.test.ts',
    '!**/fixtures/**',
  ],
  coverageReporters: ['text-summary', 'json-summary'],
  projects: [
    {
      ...common,
      displayName: 'unit',
      testMatch: ['**/*.test.ts'],
      testPathIgnorePatterns: ['/node_modules/', '\\.(cluster|process)\\.test\\.ts$'],
    },
    { ...common, displayName: 'process', testMatch: ['**/*.process.test.ts'] },
    {
      ...common,
      displayName: 'cluster',
      testMatch: ['**/*.cluster.test.ts'],
      globalSetup: '<rootDir>/local/jest-setup.ts',
      globalTeardown: '<rootDir>/local/jest-teardown.ts',
    },
  ],
};
