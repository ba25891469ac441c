/** The Pulumi program under the SDK's own mocks: what it registers. What the engine makes of it: local/pulumi.cluster.test.ts. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, test } from '@jest/globals';
import * as pulumi from '@pulumi/pulumi';
import { parse, parseAllDocuments } from 'yaml';
import { installOptions } from './crds/install-options.ts';

interface Registered {
  readonly type: string;
  readonly name: string;
  readonly inputs: Readonly<Record<string, unknown>>;
}

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

let registered: Registered[];
let runs = 0;

beforeEach(async () => {
  registered = [];
  const newResource = ({ type, name, inputs, id }: pulumi.runtime.MockResourceArgs) => {
    registered.push({ type, name, inputs: inputs as Registered['inputs'] });
    return { id: id ?? `${name}-id`, state: inputs as object };
  };
  await pulumi.runtime.setMocks({ newResource, call: () => ({}) }, 'reprise', 'test');
});

/** Runs the program as the CLI does; gives its outputs. */
async function run(settings: Readonly<Record<string, string>> = {}): Promise<Record<string, unknown>> {
  const config = Object.entries(settings).map(([key, value]) => [`reprise:${key}`, value] as const);
  pulumi.runtime.setAllConfig(Object.fromEntries(config));
  runs += 1;
  const outputs = (await import(`./index.ts?test=${runs}`)) as Record<string, unknown>;
  await pulumi.runtime.disconnect();
  return outputs;
}

const objects = (): readonly Registered[] => registered.filter(({ type }) => type.startsWith('kubernetes:'));

/** What `npm run synth` writes, read back from its files. */
async function synthesized(environment: Readonly<Record<string, string>> = {}): Promise<readonly Manifest[]> {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-synth-'));
  try {
    const env = { ...process.env, ...environment, CDK8S_OUTDIR: folder };
    await promisify(execFile)(process.execPath, [join(import.meta.dirname, 'main.ts')], { env });
    const files = readdirSync(folder)
      .sort()
      .map((file) => readFileSync(join(folder, file), 'utf8'));
    return files.flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as Manifest));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const byName = (manifests: readonly Manifest[]): readonly Manifest[] => {
  const nameOf = ({ kind, metadata }: Manifest): string => `${kind} ${metadata.namespace ?? ''} ${metadata.name}`;
  return manifests.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
};

describe('the program', () => {
  test('registers exactly what synth writes, field by field', async () => {
    await run();
    const expected = await synthesized();
    expect(expected.length).toBeGreaterThan(5);
    expect(byName(objects().map(({ inputs }) => inputs as unknown as Manifest))).toEqual(byName(expected));
  });

  test('registers the same as synth when options are set', async () => {
    await run({
      namespace: 'ops',
      image: 'registry.example.com/reprise:2',
      watchNamespaces: 'shop,blog',
      samples: 'false',
    });
    const expected = await synthesized({
      REPRISE_NAMESPACE: 'ops',
      REPRISE_IMAGE: 'registry.example.com/reprise:2',
      REPRISE_WATCH_NAMESPACES: 'shop,blog',
      REPRISE_SAMPLES: 'false',
    });
    expect(byName(objects().map(({ inputs }) => inputs as unknown as Manifest))).toEqual(byName(expected));
    expect(expected.map(({ kind }) => kind)).not.toContain('WebServer');
  });

  test('registers each object under the type and name that Pulumi has for it', async () => {
    await run();
    const names = objects().map(({ type, name }) => `${type} ${name}`);
    expect(names).toEqual(
      expect.arrayContaining([
        'kubernetes:core/v1:Namespace reprise-system',
        'kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition webservers.webserver.example.com',
        'kubernetes:apps/v1:Deployment reprise-system/reprise',
        'kubernetes:webserver.example.com/v1:WebServer default/hello',
      ]),
    );
    expect(new Set(names).size).toBe(names.length);
  });

  test('says what was installed, where, and what to do next', async () => {
    await expect(run({ watchNamespaces: 'shop' })).resolves.toMatchObject({
      namespace: 'reprise-system',
      image: installOptions.image.default,
      kinds: ['WebServer (webserver.example.com/v1)'],
      watchedNamespaces: ['shop'],
      samples: ['shop/hello', 'shop/docs'],
      next: 'kubectl get webservers.webserver.example.com --all-namespaces',
      uninstall: 'pulumi destroy --run-program',
    });
  });

  test('uses the cluster that was chosen, or the current one', async () => {
    const providerInputs = () => registered.find(({ type }) => type === 'pulumi:providers:kubernetes')?.inputs;
    await run({ kubeconfig: '', context: '' });
    expect(providerInputs()).toEqual({ enablePatchForce: 'true' });
    registered = [];
    await run({ kubeconfig: '/etc/kubeconfig', context: 'prod' });
    expect(providerInputs()).toMatchObject({
      context: 'prod',
      kubeconfig: expect.objectContaining({ value: '/etc/kubeconfig' }),
    });
  });
});

describe('a mistake in the settings', () => {
  test.each([
    [{ replicas: '11' }, 'reprise:replicas: expected'],
    [{ replicas: 'many' }, 'reprise:replicas: expected'],
    [{ namespace: 'Not A Name' }, 'reprise:namespace: expected'],
    [{ watchNamespaces: '*,shop' }, 'reprise:watchNamespaces: expected'],
    [{ samples: 'maybe' }, 'reprise:samples: expected'],
    [{ replcias: '1' }, 'reprise:replcias: no such option'],
  ])(
    '%j is told with the name of its key, without a stack, before anything is registered',
    async (settings, message) => {
      const failure: unknown = await run(settings).catch((error: unknown) => error);
      expect(pulumi.RunError.isInstance(failure)).toBe(true);
      expect((failure as Error).message).toContain(message);
      expect(registered).toEqual([]);
    },
  );
});

describe('Pulumi.yaml', () => {
  const { config } = parse(readFileSync(join(import.meta.dirname, 'Pulumi.yaml'), 'utf8')) as {
    config: Record<string, { type: string; default: unknown; description: string }>;
  };

  test('lists every option with its default and its description', () => {
    const own = Object.entries(config).filter(([key]) => !['reprise:kubeconfig', 'reprise:context'].includes(key));
    const listed = own.map(([key, value]) => [key, String(value.default), value.description]);
    const options = Object.entries(installOptions).map(([name, option]) => [
      `reprise:${name}`,
      option.default ?? '',
      option.description,
    ]);
    expect(listed).toEqual(options);
  });
});
