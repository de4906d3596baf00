export { downloadModel, isModelName, type DownloadModelOptions, type DownloadProgress } from "./downloadModel.ts";
