import { type TidyTask, tidy } from "./tidy";

self.onmessage = ({ data }: MessageEvent<TidyTask>) => self.postMessage(tidy(data));
