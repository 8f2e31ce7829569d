#include "CFFmpeg.h"

#include <string.h>

// A callback whose last argument points to a pointer to a struct that Swift cannot name before it is complete.
static int refuse(AVFormatContext *container, AVIOContext **stream, const char *url, int flags, AVDictionary **options) {
  (void)container, (void)url, (void)flags, (void)options;
  *stream = NULL;
  return AVERROR(EPERM);
}

void ffmedia_open_nothing(AVFormatContext *container) { container->io_open = refuse; }

// FFmpeg 7.1 has a function for the lists of a coder, and deprecates the members.
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(61, 13, 100)
static const void *supported(const AVCodec *codec, enum AVCodecConfig kind) {
  const void *list = NULL;
  return avcodec_get_supported_config(NULL, codec, kind, 0, &list, NULL) < 0 ? NULL : list;
}
#define SUPPORTED(codec, kind, member) supported(codec, kind)
#else
#define SUPPORTED(codec, kind, member) (codec)->member
#endif

const enum AVSampleFormat *ffmedia_sample_formats(const AVCodec *codec) {
  return SUPPORTED(codec, AV_CODEC_CONFIG_SAMPLE_FORMAT, sample_fmts);
}

const int *ffmedia_sample_rates(const AVCodec *codec) {
  return SUPPORTED(codec, AV_CODEC_CONFIG_SAMPLE_RATE, supported_samplerates);
}

const AVChannelLayout *ffmedia_channel_layouts(const AVCodec *codec) {
  return SUPPORTED(codec, AV_CODEC_CONFIG_CHANNEL_LAYOUT, ch_layouts);
}

// Since FFmpeg 6.1 the side data are part of a stream's parameters, and copied with those.
#if LIBAVFORMAT_VERSION_INT >= AV_VERSION_INT(60, 15, 100)
const uint8_t *ffmedia_stream_data(const AVStream *stream, enum AVPacketSideDataType type, size_t *size) {
  const AVCodecParameters *parameters = stream->codecpar;
  const AVPacketSideData *data =
      av_packet_side_data_get(parameters->coded_side_data, parameters->nb_coded_side_data, type);
  if (size) *size = data ? data->size : 0;
  return data ? data->data : NULL;
}

int ffmedia_copy_stream_data(AVStream *copy, const AVStream *original) {
  (void)copy, (void)original;
  return 0;
}
#else
const uint8_t *ffmedia_stream_data(const AVStream *stream, enum AVPacketSideDataType type, size_t *size) {
  return av_stream_get_side_data(stream, type, size);
}

int ffmedia_copy_stream_data(AVStream *copy, const AVStream *original) {
  for (int index = 0; index < original->nb_side_data; index++) {
    const AVPacketSideData *data = &original->side_data[index];
    uint8_t *bytes = av_stream_new_side_data(copy, data->type, data->size);
    if (!bytes) return AVERROR(ENOMEM);
    memcpy(bytes, data->data, data->size);
  }
  return 0;
}
#endif

int64_t ffmedia_frame_duration(const AVFrame *frame) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(57, 30, 100)
  return frame->duration;
#else
  return frame->pkt_duration;
#endif
}
