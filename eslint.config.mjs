// Strict, typed lint, and the import directions of docs/architecture.md: imports <- charts <- crds <- operator.
import tseslint from 'typescript-eslint';

/** Forbids imports for a folder; one entry per reason. */
const forbid = (files, ignores, ...patterns) => ({
  files,
  ignores: ['**/*.test.ts', ...ignores],
  rules: { 'no-restricted-imports': ['error', { patterns }] },
});
const pulumi = { group: ['@pulumi/*', '@pulumi/**'], message: '@pulumi/* belongs in index.ts and local/ only.' };
const cdk8s = {
  group: ['cdk8s', 'cdk8s-plus-28', 'cdk8s/**'],
  message: 'cdk8s belongs in charts/, children.ts, the two programs and operator/controller/render.ts.',
};
const crds = { group: ['**/crds/**'], message: 'This folder must not know the kinds.' };
const operator = { group: ['**/operator/**'], message: 'Kinds and constructs must not know the runtime.' };
const list = {
  group: ['**/crds/index.ts'],
  message: 'Only operator/main.ts and the programs import the list of kinds.',
};
const constructs = {
  group: ['**/charts/*.ts', '!**/charts/resource.ts'],
  message: 'The runtime parts import only charts/resource.ts.',
};

export default tseslint.config(
  { ignores: ['node_modules/', 'dist/', 'build/', 'coverage/', 'imports/', '**/*.mjs'] },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      'no-console': 'error',
      'max-lines': ['error', { max: 320, skipBlankLines: true, skipComments: true }],
      complexity: ['error', 14],
      'max-depth': ['error', 3],
      'max-params': 'off',
      '@typescript-eslint/max-params': ['error', { max: 4 }],
    },
  },
  {
    files: ['**/*.test.ts', 'test/**', 'bench/**', 'local/**', 'tools/**'],
    rules: { 'no-console': 'off', 'max-lines': 'off' },
  },
  { files: ['**/*.test.ts'], rules: { '@typescript-eslint/no-non-null-assertion': 'off' } },
  forbid(['charts/**'], [], pulumi, crds, operator),
  forbid(['crds/*.ts', 'crds/**/*.ts'], ['crds/**/children.ts', 'crds/kind.ts'], pulumi, cdk8s, operator),
  forbid(['crds/**/children.ts', 'crds/kind.ts'], [], pulumi, operator),
  forbid(['operator/**'], ['operator/main.ts', 'operator/controller/render.ts'], pulumi, cdk8s, list, constructs),
  forbid(['operator/controller/render.ts'], [], pulumi, list),
  forbid(['operator/main.ts'], [], pulumi, cdk8s),
  forbid(
    ['operator/kube/**', 'operator/watch/**', 'operator/queue/**', 'operator/leader/**'],
    [],
    pulumi,
    cdk8s,
    crds,
    constructs,
  ),
);
