/** The stand-in as Pulumi's engine sees it: over gRPC, with the messages of the protocol. */
import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type * as Service from '@pulumi/pulumi/proto/provider_grpc_pb.js';
import type * as Messages from '@pulumi/pulumi/proto/provider_pb.js';
import type { JsonObject } from './json.ts';
import { fromStruct, grpc, provider, toStruct } from './protocol.ts';
import { serveProvider } from './server.ts';
import type { ProviderServer } from './server.ts';

const { ResourceProviderClient } = createRequire(import.meta.url)(
  '@pulumi/pulumi/proto/provider_grpc_pb.js',
) as typeof Service;

let server: ProviderServer;
let client: Service.ResourceProviderClient;

beforeAll(async () => {
  server = await serveProvider();
  client = new ResourceProviderClient(`127.0.0.1:${server.port}`, grpc.credentials.createInsecure());
});

afterAll(async () => {
  client.close();
  await server[Symbol.asyncDispose]();
});

/** A call as a promise; rejects with the details of the gRPC error. */
const called = <Response>(
  start: (done: (error: Error | null, response: Response) => void) => unknown,
): Promise<Response> =>
  new Promise((resolve, reject) => start((error, response) => (error === null ? resolve(response) : reject(error))));

const urn = 'urn:pulumi:test::reprise::kubernetes:apps/v1:Deployment::web';
const deployment = (replicas: number, name = 'web'): JsonObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: { replicas },
});

const check = async (news: JsonObject): Promise<string[]> => {
  const request = new provider.CheckRequest().setUrn(urn).setNews(toStruct(news));
  const response = await called<Messages.CheckResponse>((done) => client.check(request, done));
  return response.getFailuresList().map((failure) => `${failure.getProperty()}: ${failure.getReason()}`);
};

const checkConfig = async (news: JsonObject): Promise<string[]> => {
  const request = new provider.CheckRequest().setUrn(urn).setNews(toStruct(news));
  const response = await called<Messages.CheckResponse>((done) => client.checkConfig(request, done));
  return response.getFailuresList().map((failure) => `${failure.getProperty()}: ${failure.getReason()}`);
};

describe('check', () => {
  test('takes a Kubernetes object as it is', async () => {
    const request = new provider.CheckRequest().setUrn(urn).setNews(toStruct(deployment(2)));
    const response = await called<Messages.CheckResponse>((done) => client.check(request, done));
    expect(response.getFailuresList()).toEqual([]);
    expect(fromStruct(response.getInputs())).toEqual(deployment(2));
  });

  test('refuses what is no Kubernetes object, such as a Helm release', async () => {
    await expect(check({ chart: 'nginx' })).resolves.toEqual([
      'apiVersion: is missing; the stand-in provider takes Kubernetes objects only',
      'kind: is missing; the stand-in provider takes Kubernetes objects only',
      'metadata.name: is missing; the stand-in provider makes up no names',
    ]);
  });
});

describe('configuration', () => {
  test('with arguments that the stand-in does not know is refused rather than half understood', async () => {
    await expect(checkConfig({ renderYamlToDirectory: '/tmp/x' })).resolves.toEqual([
      'renderYamlToDirectory: the stand-in provider does not know "renderYamlToDirectory"',
    ]);
    await expect(checkConfig({ enableServerSideApply: 'false' })).resolves.toEqual([
      'enableServerSideApply: the stand-in provider knows server-side apply only',
    ]);
  });

  test('with a kubeconfig that is not there is told under no property, because the engine prints the value of one that is named', async () => {
    const secret = { '4dabf18193072939515e22adb298388d': '1b47061264138c4ac30d75fd1eb44270', value: '/nowhere/config' };
    await expect(checkConfig({ kubeconfig: secret })).resolves.toEqual([
      expect.stringMatching(/^: no kubeconfig at \/nowhere\/config/),
    ]);
  });

  test('is needed before anything is created', async () => {
    const request = new provider.CreateRequest().setUrn(urn).setProperties(toStruct(deployment(1)));
    await expect(called((done) => client.create(request, done))).rejects.toThrow('no usable cluster configuration');
  });
});

describe('diff', () => {
  const diff = (olds: JsonObject, news: JsonObject): Promise<Messages.DiffResponse> => {
    const request = new provider.DiffRequest().setUrn(urn).setOldInputs(toStruct(olds)).setNews(toStruct(news));
    return called((done) => client.diff(request.setOlds(toStruct({ ...olds, status: {} })), done));
  };

  test('of equal inputs is none, whatever the state carries besides', async () => {
    const response = await diff(deployment(1), deployment(1));
    expect(response.getChanges()).toBe(provider.DiffResponse.DiffChanges.DIFF_NONE);
  });

  test('names the paths and how they change', async () => {
    const response = await diff(deployment(1), deployment(2));
    expect(response.getChanges()).toBe(provider.DiffResponse.DiffChanges.DIFF_SOME);
    expect(response.getDiffsList()).toEqual(['spec']);
    expect(response.getReplacesList()).toEqual([]);
    const detailed = response.getDetaileddiffMap();
    expect(detailed.getLength()).toBe(1);
    expect(detailed.get('spec.replicas')?.getKind()).toBe(provider.PropertyDiff.Kind.UPDATE);
  });

  test('of a name replaces the object, the new one first', async () => {
    const response = await diff(deployment(1), deployment(1, 'other'));
    expect(response.getReplacesList()).toEqual(['metadata.name']);
    expect(response.getDeletebeforereplace()).toBe(false);
  });

  test('of an immutable field replaces the object, the old one first', async () => {
    const selecting = (app: string): JsonObject => ({ ...deployment(1), spec: { selector: { matchLabels: { app } } } });
    const response = await diff(selecting('a'), selecting('b'));
    expect(response.getReplacesList()).toEqual(['spec.selector.matchLabels.app']);
    expect(response.getDeletebeforereplace()).toBe(true);
  });
});

test('what the stand-in does not do is unimplemented, not silently done', async () => {
  const request = new provider.InvokeRequest().setTok('kubernetes:helm:template');
  await expect(called((done) => client.invoke(request, done))).rejects.toMatchObject({
    code: grpc.status.UNIMPLEMENTED,
  });
});
