/**
 * Pulumi's provider protocol, typed. Generated code and gRPC come from inside @pulumi/pulumi, so that both are exactly the
 * ones that this version of the SDK was made with.
 */
import { createRequire } from 'node:module';
import type * as Grpc from '@grpc/grpc-js';
import type * as EngineService from '@pulumi/pulumi/proto/engine_grpc_pb.js';
import type * as EngineMessages from '@pulumi/pulumi/proto/engine_pb.js';
import type * as PluginMessages from '@pulumi/pulumi/proto/plugin_pb.js';
import type * as ProviderService from '@pulumi/pulumi/proto/provider_grpc_pb.js';
import type * as ProviderMessages from '@pulumi/pulumi/proto/provider_pb.js';
import type * as StatusMessages from '@pulumi/pulumi/proto/status_pb.js';
import type * as AnyMessages from 'google-protobuf/google/protobuf/any_pb.js';
import type * as EmptyMessages from 'google-protobuf/google/protobuf/empty_pb.js';
import type * as StructMessages from 'google-protobuf/google/protobuf/struct_pb.js';
import { isList, isObject } from './json.ts';
import type { Json, JsonObject } from './json.ts';

const load = createRequire(createRequire(import.meta.url).resolve('@pulumi/pulumi/package.json'));

export const grpc = load('@grpc/grpc-js') as typeof Grpc;
export const provider = load('./proto/provider_pb.js') as typeof ProviderMessages;
export const plugin = load('./proto/plugin_pb.js') as typeof PluginMessages;
export const engine = load('./proto/engine_pb.js') as typeof EngineMessages;
export const { ResourceProviderService } = load('./proto/provider_grpc_pb.js') as typeof ProviderService;
export const { EngineClient } = load('./proto/engine_grpc_pb.js') as typeof EngineService;
const status = load('./proto/status_pb.js') as typeof StatusMessages;
const { Any } = load('google-protobuf/google/protobuf/any_pb.js') as typeof AnyMessages;
const { Struct } = load('google-protobuf/google/protobuf/struct_pb.js') as typeof StructMessages;
export const { Empty } = load('google-protobuf/google/protobuf/empty_pb.js') as typeof EmptyMessages;

/** Of the SDK, and so of the real provider that belongs to it. */
export const { version } = createRequire(import.meta.url)('@pulumi/kubernetes/package.json') as { version: string };

/** What the engine sends in place of a value that is not known during a preview. */
export const unknownValue = '04da6b54-80e4-46f7-96ec-b56ff0331ba9';

/** Marks a value that Pulumi wraps, and among these a secret (sdk/go/common/resource/sig). */
const [wrapper, secret] = ['4dabf18193072939515e22adb298388d', '1b47061264138c4ac30d75fd1eb44270'];

/** As plain JSON. Secrets are opened: the engine marks what it gets back by itself. */
export const fromStruct = (struct: StructMessages.Struct | undefined): JsonObject =>
  struct === undefined ? {} : (opened(struct.toJavaScript()) as JsonObject);

function opened(value: Json | undefined): Json | undefined {
  if (isList(value)) return value.map((part) => opened(part) ?? null);
  if (!isObject(value)) return value;
  if (value[wrapper] === secret) return opened(value['value']);
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, opened(part)]));
}

export const toStruct = (object: JsonObject): StructMessages.Struct =>
  Struct.fromJavaScript(object as Record<string, StructMessages.JavaScriptValue>);

/** An object that exists but did not become ready: the engine keeps it in its state and says why. */
export class NotReady extends Error {
  readonly id: string;
  readonly state: JsonObject;
  readonly inputs: JsonObject;
  constructor(message: string, partial: { id: string; state: JsonObject; inputs: JsonObject }) {
    super(message);
    this.id = partial.id;
    this.state = partial.state;
    this.inputs = partial.inputs;
  }
}

/** A thrown value as gRPC carries it; details of NotReady travel in the trailer that Go's gRPC reads. */
export function serviceError(thrown: unknown): Partial<Grpc.ServiceError> {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  if (!(thrown instanceof NotReady)) return { code: grpc.status.UNKNOWN, details: message };
  const detail = new provider.ErrorResourceInitFailed();
  detail.setId(thrown.id);
  detail.setProperties(toStruct(thrown.state));
  detail.setInputs(toStruct(thrown.inputs));
  detail.setReasonsList([message]);
  const packed = new Any();
  packed.pack(detail.serializeBinary(), 'pulumirpc.ErrorResourceInitFailed');
  const answer = new status.Status();
  answer.setCode(grpc.status.UNKNOWN);
  answer.setMessage(message);
  answer.addDetails(packed);
  const metadata = new grpc.Metadata();
  metadata.add('grpc-status-details-bin', Buffer.from(answer.serializeBinary()));
  return { code: grpc.status.UNKNOWN, details: message, metadata };
}
