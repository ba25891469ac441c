/** The import directions of docs/architecture.md, checked on every source file: imports <- charts <- crds <- operator. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';

const root = resolve(import.meta.dirname, '..');
const skipped = new Set(['node_modules', 'dist', 'build', 'coverage', '.git', 'imports']);

interface Source {
  readonly file: string;
  readonly imports: readonly string[];
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (skipped.has(entry.name)) return [];
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesBelow(path);
    return entry.name.endsWith('.ts') ? [path] : [];
  });
}

const importPattern =
  /^\s*(?:import|export)\b[^'"]*?from\s+['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)|^import\s+['"]([^'"]+)['"]/gm;

function sourceOf(path: string): Source {
  const imports = [...readFileSync(path, 'utf8').matchAll(importPattern)].map((match) => {
    const name = match[1] ?? match[2] ?? match[3] ?? '';
    return name.startsWith('.') ? relative(root, resolve(dirname(path), name)) : name;
  });
  return { file: relative(root, path), imports };
}

const sources = filesBelow(root).map(sourceOf);
const product = sources.filter((source) => !source.file.endsWith('.test.ts') && !/^(test|bench)\//.test(source.file));

/** Every import of a file that matches `files` and is not allowed. */
function breaches(files: RegExp, allowed: (imported: string, file: string) => boolean): string[] {
  return product
    .filter((source) => files.test(source.file))
    .flatMap((source) =>
      source.imports
        .filter((imported) => !allowed(imported, source.file))
        .map((imported) => `${source.file} imports ${imported}`),
    );
}

const isOurs = (imported: string) => /^(charts|crds|operator|cli|local|test|bench|tools)\//.test(imported);
const within =
  (...folders: string[]) =>
  (imported: string) =>
    !isOurs(imported) || folders.some((folder) => imported.startsWith(folder));

describe('import directions', () => {
  test('the test sees the files and their imports', () => {
    expect(sources.length).toBeGreaterThan(20);
    expect(sources.find((source) => source.file === 'crds/kind.ts')?.imports).toContain('charts/resource.ts');
  });

  test('charts know no kind and no runtime', () => {
    expect(breaches(/^charts\//, within('charts/'))).toEqual([]);
  });

  test('kinds know constructs and the language of kinds, but not the runtime', () => {
    expect(breaches(/^crds\//, within('charts/', 'crds/'))).toEqual([]);
  });

  test('a kind does not know another kind', () => {
    const foreign = (imported: string, file: string) => {
      const own = /^crds\/([^/]+)\//.exec(file)?.[1] ?? '';
      const other = /^crds\/([^/]+)\//.exec(imported)?.[1];
      return other === undefined || other === own;
    };
    expect(breaches(/^crds\/[^/]+\//, foreign)).toEqual([]);
  });

  test('the runtime names no kind: only operator/main.ts imports the list', () => {
    const kinds = /^crds\/(index\.ts|[^/]+\/)/;
    expect(breaches(/^operator\/(?!main\.ts$)/, (imported) => !kinds.test(imported))).toEqual([]);
  });

  test('client, watch, queue and leader know neither kinds nor constructs', () => {
    const allowed = (imported: string) =>
      !imported.startsWith('crds/') && (!imported.startsWith('charts/') || imported === 'charts/resource.ts');
    expect(breaches(/^operator\/(kube|watch|queue|leader)\//, allowed)).toEqual([]);
  });

  test('cli asks a cluster through the client, and knows no other part of the runtime', () => {
    expect(breaches(/^cli\//, within('cli/', 'charts/', 'operator/kube/'))).toEqual([]);
  });

  test('Pulumi is a deploy-time tool: only index.ts and local/ import it', () => {
    expect(breaches(/^(?!index\.ts$|local\/)/, (imported) => !imported.startsWith('@pulumi/'))).toEqual([]);
  });

  test('cdk8s is imported only where constructs are made', () => {
    const makes =
      /^(charts\/|crds\/kind\.ts$|crds\/install\.ts$|crds\/[^/]+\/children\.ts$|main\.ts$|index\.ts$|operator\/controller\/render\.ts$|tools\/)/;
    const isCdk8s = (imported: string) => imported === 'cdk8s' || imported.startsWith('cdk8s-plus');
    expect(breaches(/./, (imported, file) => makes.test(file) || !isCdk8s(imported))).toEqual([]);
  });

  test('only operator/config.ts reads the environment of the operator', () => {
    const readers = product.filter(
      (source) =>
        /^(operator|charts|crds)\//.test(source.file) &&
        source.file !== 'operator/config.ts' &&
        readFileSync(join(root, source.file), 'utf8').includes('process.env'),
    );
    expect(readers.map((source) => source.file)).toEqual([]);
  });

  test('no file imports itself through others', () => {
    const byFile = new Map(product.map((source) => [source.file, source.imports]));
    const cycles: string[] = [];
    const visit = (file: string, trail: readonly string[]): void => {
      if (trail.includes(file)) {
        cycles.push([...trail.slice(trail.indexOf(file)), file].join(' -> '));
        return;
      }
      for (const next of byFile.get(file) ?? []) if (byFile.has(next) && !done.has(next)) visit(next, [...trail, file]);
      done.add(file);
    };
    const done = new Set<string>();
    for (const file of byFile.keys()) visit(file, []);
    expect(cycles).toEqual([]);
  });
});
