/**
 * The Pulumi program: installs exactly what `cdk8s synth` writes, from the same charts. Definitions first and waited for,
 * then the operator, then the samples. Each export is an output of the stack. Settings: Pulumi.yaml. Use: docs/pulumi.md.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { Provider } from '@pulumi/kubernetes';
import * as pulumi from '@pulumi/pulumi';
import { App } from 'cdk8s';
import type { Chart } from 'cdk8s';
import { apiVersionOf, resourceNameOf } from './charts/resource.ts';
import type { KubeObject, ResourceType } from './charts/resource.ts';
import { lossOf, nameOf } from './cli/leftovers.ts';
import { kinds as servedKinds } from './crds/index.ts';
import { parseInstallOptions } from './crds/install-options.ts';
import { installCharts } from './crds/install.ts';

/** Any object under the type that Pulumi's SDK has for it, so that state, policies and `pulumi import` know it as usual. */
class KubernetesObject extends pulumi.CustomResource {
  constructor(object: KubeObject, resourceOptions: pulumi.CustomResourceOptions) {
    const apiVersion = object.apiVersion.includes('/') ? object.apiVersion : `core/${object.apiVersion}`;
    super(`kubernetes:${apiVersion}:${object.kind}`, nameOf(object), object, resourceOptions);
  }
}

/**
 * Warns before a definition is deleted; in previews too, so before `pulumi destroy --run-program` asks. Without that flag the
 * engine refuses to destroy, and shows this name.
 */
const hookName = 'names-resources-that-go-too';

const { kubeconfig = '', context = '', ...settings } = settingsOf('reprise');
const options = orStop(() => parseInstallOptions(settings, (option) => `reprise:${option}`));

/**
 * What Pulumi installs, Pulumi owns: an update sets it back also where somebody else has written since (enablePatchForce).
 * Fields that are others' to write (status, finalizers, the CA of webhooks) are not in the charts. What exists is refused.
 */
const provider = new Provider('kubernetes', {
  ...(kubeconfig !== '' && { kubeconfig: pulumi.secret(kubeconfig) }),
  ...(context !== '' && { context }),
  enablePatchForce: true,
});

const groups = installCharts(new App(), options).map((chart) => ({
  name: groupNameOf(chart),
  objects: objectsOf(chart),
}));
const sampleNames = groups.filter(({ name }) => name === 'samples').flatMap(({ objects }) => objects.map(nameOf));

const warnsOfLoss = hooksAreServed()
  ? new pulumi.ResourceHook(hookName, inThisRun(warnOfLoss), { onDryRun: true })
  : undefined;

groups.reduce<readonly pulumi.Resource[]>((before, group) => [...before, ...install(group, before)], []);

export const namespace = options.namespace;
export const image = options.image;
export const kinds = servedKinds.map((kind) => `${kind.kind} (${apiVersionOf(kind)})`);
export const watchedNamespaces = options.watchNamespaces;
export const samples = sampleNames;
export const next = `kubectl get ${servedKinds.map(resourceNameOf).join(',')} --all-namespaces`;
export const uninstall = 'pulumi destroy --run-program';

/** The settings of this project, by their short names. All of them, so that a misspelt one is noticed. */
function settingsOf(project: string): Readonly<Record<string, string>> {
  const own = Object.entries(pulumi.runtime.allConfig()).filter(([key]) => key.startsWith(`${project}:`));
  return Object.fromEntries(own.map(([key, value]) => [key.slice(project.length + 1), value]));
}

/** A mistake in the settings is told in its own words, without a stack. */
function orStop<Value>(read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    throw new pulumi.RunError((error as Error).message);
  }
}

/** `0-definitions` is the file's name, in the order of `kubectl apply -f`; here the order is in the dependencies. */
function groupNameOf(chart: Chart): string {
  return chart.node.id.replace(/^\d+-/, '');
}

function objectsOf(chart: Chart): readonly KubeObject[] {
  return chart.toJson() as KubeObject[];
}

interface Group {
  readonly name: string;
  readonly objects: readonly KubeObject[];
}

/**
 * A group shows as one node in `pulumi up`. Within it workloads come last, when their account and rights are there; not after
 * Services, which count as ready only once a workload answers behind them.
 */
function install({ name, objects }: Group, before: readonly pulumi.Resource[]): readonly pulumi.Resource[] {
  const parent = new pulumi.ComponentResource('reprise:index:Group', name, {}, { providers: [provider] });
  const register = (object: KubeObject, dependsOn: readonly pulumi.Resource[]): pulumi.Resource =>
    new KubernetesObject(object, { parent, dependsOn: [...dependsOn], ...optionsOf(object) });
  const others = objects.filter((object) => !isWorkload(object));
  const made = others.map((object) => ({ object, resource: register(object, before) }));
  const needed = made.filter(({ object }) => object.kind !== 'Service').map(({ resource }) => resource);
  const workloads = objects.filter(isWorkload).map((object) => register(object, [...before, ...needed]));
  return [...made.map(({ resource }) => resource), ...workloads];
}

function isWorkload({ spec }: KubeObject): boolean {
  return typeof spec === 'object' && spec !== null && 'template' in spec;
}

function optionsOf({ kind }: KubeObject): pulumi.CustomResourceOptions {
  return kind === 'CustomResourceDefinition' && warnsOfLoss ? { hooks: { beforeDelete: [warnsOfLoss] } } : {};
}

/** Not by the mocks of Pulumi's SDK, which claim to. */
function hooksAreServed(): boolean {
  return typeof pulumi.runtime.getMonitor()?.registerResourceHook === 'function';
}

/** Only resources that this stack did not make are worth a warning. */
async function warnOfLoss({ name, oldInputs }: pulumi.ResourceHookArgs): Promise<void> {
  const loss = await lossOf({ name, type: typeIn(oldInputs as KubeObject) }, { kubeconfig, context }, sampleNames);
  if (loss !== undefined) await pulumi.log.warn(loss);
}

/** The type that a CustomResourceDefinition defines, in the version that is stored. */
function typeIn(definition: KubeObject): ResourceType {
  const { group, scope, names, versions } = definition.spec as DefinitionSpec;
  const version = versions.find(({ storage }) => storage)?.name ?? '';
  return { group, version, kind: names.kind, plural: names.plural, scope };
}

interface DefinitionSpec extends Pick<ResourceType, 'group' | 'scope'> {
  readonly names: Pick<ResourceType, 'kind' | 'plural'>;
  readonly versions: readonly { readonly name: string; readonly storage: boolean }[];
}

/** Hooks are called from outside of the program's own context, where `pulumi.log` does not reach the engine. */
function inThisRun<Argument>(callback: (argument: Argument) => Promise<void>): (argument: Argument) => Promise<void> {
  const run = AsyncLocalStorage.snapshot();
  return (argument) => run(callback, argument);
}
