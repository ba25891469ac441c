/**
 * Serves the stand-in provider to Pulumi's engine on a loopback port, in Pulumi's own protocol
 * (https://github.com/pulumi/pulumi/blob/master/proto/pulumi/provider.proto).
 */
import type * as Grpc from '@grpc/grpc-js';
import type * as Plugin from '@pulumi/pulumi/proto/plugin_pb.js';
import type * as Messages from '@pulumi/pulumi/proto/provider_pb.js';
import type { Change } from './diff.ts';
import { Handlers } from './handlers.ts';
import type { Failure, Target } from './handlers.ts';
import type { JsonObject } from './json.ts';
import {
  Empty,
  fromStruct,
  grpc,
  plugin,
  provider,
  ResourceProviderService,
  serviceError,
  toStruct,
  version,
} from './protocol.ts';

export interface ProviderServer extends AsyncDisposable {
  /** For PULUMI_DEBUG_PROVIDERS. */
  readonly port: number;
  /** Ends the operation under way, as the engine's own Cancel does. */
  cancel(): void;
}

/** Ends when disposed; calls under way are cancelled then. */
export async function serveProvider(): Promise<ProviderServer> {
  const handlers = new Handlers();
  // CRDs are large: gRPC's limit of 4 MB is too close.
  const server = new grpc.Server({ 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1 });
  server.addService(ResourceProviderService, implementation(handlers));
  const port = await listen(server);
  return {
    port,
    cancel: () => handlers.cancel(),
    [Symbol.asyncDispose]: () => {
      handlers.close();
      server.forceShutdown();
      return Promise.resolve();
    },
  };
}

function listen(server: Grpc.Server): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, port) =>
    error === null ? resolve(port) : reject(error),
  );
  return promise;
}

type Handler<Request, Response> = (request: Request) => Response | Promise<Response>;

/** From a function to a gRPC handler: what it throws becomes the call's error. */
const unary =
  <Request, Response>(handler: Handler<Request, Response>): Grpc.handleUnaryCall<Request, Response> =>
  (call, callback) => {
    const answer = async (): Promise<Response> => handler(call.request);
    answer().then(
      (response) => callback(null, response),
      (error: unknown) => callback(serviceError(error)),
    );
  };

function implementation(handlers: Handlers): Grpc.UntypedServiceImplementation {
  return {
    handshake: unary((request: Messages.ProviderHandshakeRequest) => {
      handlers.attach(request.getEngineAddress());
      return new provider.ProviderHandshakeResponse();
    }),
    attach: unary((request: Plugin.PluginAttach) => {
      handlers.attach(request.getAddress());
      return new Empty();
    }),
    getPluginInfo: unary(() => new plugin.PluginInfo().setVersion(version)),
    getSchema: unary(() => new provider.GetSchemaResponse().setSchema('{}')),
    cancel: unary(() => {
      handlers.cancel();
      return new Empty();
    }),
    ...configuration(handlers),
    ...planning(handlers),
    ...changing(handlers),
  };
}

const configuration = (handlers: Handlers): Grpc.UntypedServiceImplementation => ({
  checkConfig: unary(async (request: Messages.CheckRequest) => {
    const news = fromStruct(request.getNews());
    return checked(news, await handlers.checkConfig(news));
  }),
  // Never a replacement of everything: what is not on another cluster is found out by refresh.
  diffConfig: unary((request: Messages.DiffRequest) =>
    differs(
      handlers
        .diff(oldInputsOf(request), fromStruct(request.getNews()))
        .changes.map((change) => ({ ...change, replace: false })),
      false,
    ),
  ),
  configure: unary(async (request: Messages.ConfigureRequest) => {
    await handlers.configure(fromStruct(request.getArgs()));
    return new provider.ConfigureResponse().setSupportspreview(true);
  }),
});

const planning = (handlers: Handlers): Grpc.UntypedServiceImplementation => ({
  check: unary((request: Messages.CheckRequest) => {
    const news = fromStruct(request.getNews());
    return checked(news, handlers.check(news));
  }),
  diff: unary((request: Messages.DiffRequest) => {
    const { changes, deleteBeforeReplace } = handlers.diff(oldInputsOf(request), fromStruct(request.getNews()));
    return differs(changes, deleteBeforeReplace);
  }),
  read: unary(async (request: Messages.ReadRequest) => {
    const read = await handlers.read(
      targetOf(request, fromStruct(request.getInputs())),
      fromStruct(request.getProperties()),
    );
    const response = new provider.ReadResponse();
    return read === undefined
      ? response
      : response.setId(read.id).setProperties(toStruct(read.state)).setInputs(toStruct(read.inputs));
  }),
});

const changing = (handlers: Handlers): Grpc.UntypedServiceImplementation => ({
  create: unary(async (request: Messages.CreateRequest) => {
    const made = await handlers.create(targetOf(request, fromStruct(request.getProperties())), request.getPreview());
    return new provider.CreateResponse().setId(made.id).setProperties(toStruct(made.state));
  }),
  update: unary(async (request: Messages.UpdateRequest) => {
    const target = targetOf(request, fromStruct(request.getNews()));
    const made = await handlers.update(target, fromStruct(request.getOlds()), request.getPreview());
    return new provider.UpdateResponse().setProperties(toStruct(made.state));
  }),
  delete: unary(async (request: Messages.DeleteRequest) => {
    const state = fromStruct(request.getProperties());
    await handlers.delete(targetOf(request, state), state);
    return new Empty();
  }),
});

const targetOf = (request: { getUrn(): string; getTimeout(): number }, inputs: JsonObject): Target => ({
  urn: request.getUrn(),
  inputs,
  timeoutSeconds: request.getTimeout(),
});

const oldInputsOf = (request: Messages.DiffRequest): JsonObject =>
  fromStruct(request.getOldInputs() ?? request.getOlds());

function checked(inputs: JsonObject, failures: readonly Failure[]): Messages.CheckResponse {
  const list = failures.map(({ property, reason }) =>
    new provider.CheckFailure().setProperty(property).setReason(reason),
  );
  return new provider.CheckResponse().setInputs(toStruct(inputs)).setFailuresList(list);
}

function differs(changes: readonly Change[], deleteBeforeReplace: boolean): Messages.DiffResponse {
  const { DIFF_NONE, DIFF_SOME } = provider.DiffResponse.DiffChanges;
  const response = new provider.DiffResponse();
  response.setChanges(changes.length === 0 ? DIFF_NONE : DIFF_SOME);
  response.setDiffsList([...new Set(changes.map((change) => change.path.split(/[.[]/, 1)[0] ?? ''))]);
  response.setReplacesList(changes.filter((change) => change.replace).map((change) => change.path));
  response.setDeletebeforereplace(deleteBeforeReplace);
  response.setHasdetaileddiff(true);
  for (const change of changes) response.getDetaileddiffMap().set(change.path, propertyDiff(change));
  return response;
}

function propertyDiff({ kind, replace }: Change): Messages.PropertyDiff {
  const { Kind } = provider.PropertyDiff;
  const kinds = {
    add: replace ? Kind.ADD_REPLACE : Kind.ADD,
    delete: replace ? Kind.DELETE_REPLACE : Kind.DELETE,
    update: replace ? Kind.UPDATE_REPLACE : Kind.UPDATE,
  };
  return new provider.PropertyDiff().setKind(kinds[kind]).setInputdiff(true);
}
