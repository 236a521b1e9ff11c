import tseslint from 'typescript-eslint';
import { untypedFields } from './scripts/tidy/untyped-fields.mjs';

// Bans outside of one place each, which the message names.
const bans = {
  json: {
    selector: "CallExpression[callee.object.name='JSON'][callee.property.name=/^(parse|stringify)$/]",
    message: 'Bytes are encoded and decoded only in src/codec: call codec/json.ts.',
  },
  time: {
    selector:
      "CallExpression[callee.object.name='Date'][callee.property.name='now'], NewExpression[callee.name='Date'][arguments.length=0], CallExpression[callee.name=/^(setTimeout|setInterval)$/], CallExpression[callee.object.name='Math'][callee.property.name='random']",
    message: 'Time and randomness come from std/clock.ts and std/rng.ts, so that tests can control them.',
  },
  markup: {
    selector:
      'MemberExpression[property.name=/^(innerHTML|outerHTML|insertAdjacentHTML|srcdoc|write|writeln|createContextualFragment|setHTMLUnsafe)$/], NewExpression[callee.name=/^(Function|DOMParser|RegExp)$/]',
    message: 'Texts of the server become text nodes: use h() of console/ui/dom.js.',
  },
  userRegExp: {
    selector: "NewExpression[callee.name='RegExp'][arguments.0.type!='Literal'][arguments.0.type!='TemplateLiteral']",
    message: 'Patterns that users write must not reach RegExp.',
  },
};

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', '.keelson/', '.cache/', 'coverage/'] },
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: { allowDefaultProject: ['*.mjs', '.dependency-cruiser.cjs', 'scripts/*.mjs', 'bin/*'] },
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { arguments: false } }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/prefer-promise-reject-errors': 'off',
      '@typescript-eslint/no-extraneous-class': 'off',
      '@typescript-eslint/no-unsafe-enum-comparison': 'off',
      'no-restricted-syntax': ['error', bans.json, bans.time, bans.userRegExp],
      'no-console': 'error',
    },
  },
  {
    files: ['src/**/*.ts'],
    plugins: { keelson: { rules: { 'untyped-fields': untypedFields } } },
    rules: { 'keelson/untyped-fields': 'error' },
  },
  { files: ['src/codec/**'], rules: { 'no-restricted-syntax': ['error', bans.time, bans.userRegExp] } },
  { files: ['src/std/**'], rules: { 'no-restricted-syntax': ['error', bans.json] } },
  {
    files: ['**/*.spec.ts', '**/*.e2e-spec.ts', 'test/**', 'bench/**', 'scripts/**', 'bin/**', '*.mjs', '*.cjs'],
    rules: {
      'no-restricted-syntax': 'off',
      'no-console': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/unbound-method': 'off',
    },
  },
  {
    // Programs of their own.
    files: ['examples/**/*.mjs'],
    rules: { 'no-restricted-syntax': 'off', 'no-console': 'off' },
  },
  {
    files: ['**/*.mjs', '**/*.cjs', 'bin/*', 'console/**/*.js'],
    extends: [tseslint.configs.disableTypeChecked],
    rules: { '@typescript-eslint/no-require-imports': 'off' },
  },
  // Scripts of browsers: texts of the server become text nodes, never markup or code.
  {
    files: ['console/**/*.js'],
    rules: { 'no-restricted-syntax': ['error', bans.markup], 'no-eval': 'error', 'no-undef': 'off' },
  },
);
