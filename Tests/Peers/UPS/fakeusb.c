// SPDX-License-Identifier: Apache-2.0
//
// The functions of libusb 1.0 that NUT's usbhid-ups calls, with one HID device that a file describes. It is loaded in front of libusb
// (LD_PRELOAD), so the driver of the distribution reads a UPS that isn't there. The file FAKE_UPS has in its first line vendor and product,
// in its second the report descriptor, and then a feature report in each line, all in hexadecimal.

#include <libusb-1.0/libusb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct {
  unsigned vendor, product;
  unsigned char descriptor[4096], reports[256][64];
  int descriptor_size, report_size[256];
} ups;

static int bytes_of(const char *text, unsigned char *bytes, int size) {
  int count = 0;
  unsigned byte;
  while (count < size && sscanf(text, "%2x", &byte) == 1) {
    bytes[count++] = (unsigned char)byte;
    text += 2;
  }
  return count;
}

static void load(void) {
  static char line[16384];
  FILE *file = fopen(getenv("FAKE_UPS") ? getenv("FAKE_UPS") : "", "r");
  if (!file) {
    fprintf(stderr, "FAKE_UPS can't be read\n");
    exit(2);
  }
  if (!fgets(line, sizeof line, file) || sscanf(line, "%4x:%4x", &ups.vendor, &ups.product) != 2) exit(2);
  if (!fgets(line, sizeof line, file)) exit(2);
  ups.descriptor_size = bytes_of(line, ups.descriptor, sizeof ups.descriptor);
  while (fgets(line, sizeof line, file)) {
    unsigned char report[64];
    int size = bytes_of(line, report, sizeof report);
    if (size == 0) continue;
    memcpy(ups.reports[report[0]], report, (size_t)size);
    ups.report_size[report[0]] = size;
  }
  fclose(file);
}

// The driver never looks into these.
static struct libusb_device *const the_device = (struct libusb_device *)&ups;
static struct libusb_device_handle *const the_handle = (struct libusb_device_handle *)&ups;
static libusb_device *list[2];

static struct libusb_endpoint_descriptor endpoint = {
  .bLength = 7, .bDescriptorType = 5, .bEndpointAddress = 0x81, .bmAttributes = 3, .wMaxPacketSize = 8, .bInterval = 10};
static unsigned char hid[9] = {9, 0x21, 0x10, 1, 0, 1, 0x22, 0, 0};
static struct libusb_interface_descriptor setting = {
  .bLength = 9, .bDescriptorType = 4, .bNumEndpoints = 1, .bInterfaceClass = 3, .endpoint = &endpoint, .extra = hid,
  .extra_length = 9};
// Some makers' UPSs are the second interface.
static struct libusb_interface interfaces[2] = {
  {.altsetting = &setting, .num_altsetting = 1}, {.altsetting = &setting, .num_altsetting = 1}};
static struct libusb_config_descriptor configuration = {
  .bLength = 9, .bDescriptorType = 2, .bNumInterfaces = 2, .bConfigurationValue = 1, .interface = interfaces};

int libusb_init(libusb_context **context) {
  if (context) *context = NULL;
  load();
  hid[7] = (unsigned char)ups.descriptor_size;
  hid[8] = (unsigned char)(ups.descriptor_size >> 8);
  return 0;
}
void libusb_exit(libusb_context *context) { (void)context; }
ssize_t libusb_get_device_list(libusb_context *context, libusb_device ***devices) {
  (void)context;
  list[0] = the_device;
  *devices = list;
  return 1;
}
void libusb_free_device_list(libusb_device **devices, int unref) { (void)devices, (void)unref; }
int libusb_get_device_descriptor(libusb_device *device, struct libusb_device_descriptor *told) {
  (void)device;
  *told = (struct libusb_device_descriptor){
    .bLength = 18, .bDescriptorType = 1, .bcdUSB = 0x200, .bMaxPacketSize0 = 8, .idVendor = (uint16_t)ups.vendor,
    .idProduct = (uint16_t)ups.product, .bcdDevice = 0x100, .iManufacturer = 1, .iProduct = 2, .iSerialNumber = 3,
    .bNumConfigurations = 1};
  return 0;
}
int libusb_get_config_descriptor(libusb_device *device, uint8_t index, struct libusb_config_descriptor **told) {
  (void)device, (void)index;
  *told = &configuration;
  return 0;
}
void libusb_free_config_descriptor(struct libusb_config_descriptor *told) { (void)told; }
int libusb_open(libusb_device *device, libusb_device_handle **handle) {
  (void)device;
  *handle = the_handle;
  return 0;
}
void libusb_close(libusb_device_handle *handle) { (void)handle; }
uint8_t libusb_get_bus_number(libusb_device *device) { (void)device; return 1; }
int libusb_set_auto_detach_kernel_driver(libusb_device_handle *handle, int on) { (void)handle, (void)on; return 0; }
int libusb_kernel_driver_active(libusb_device_handle *handle, int number) { (void)handle, (void)number; return 0; }
int libusb_detach_kernel_driver(libusb_device_handle *handle, int number) { (void)handle, (void)number; return 0; }
int libusb_claim_interface(libusb_device_handle *handle, int number) { (void)handle, (void)number; return 0; }
int libusb_set_interface_alt_setting(libusb_device_handle *handle, int number, int setting) {
  (void)handle, (void)number, (void)setting;
  return 0;
}
int libusb_clear_halt(libusb_device_handle *handle, unsigned char place) { (void)handle, (void)place; return 0; }

int libusb_get_string_descriptor_ascii(libusb_device_handle *handle, uint8_t index, unsigned char *text, int size) {
  (void)handle;
  const char *names[] = {"", "Fake", "UPS", "F1"};
  if (index == 0 || index > 3) return LIBUSB_ERROR_NOT_FOUND;
  return snprintf((char *)text, (size_t)size, "%s", names[index]);
}

// Nothing comes by itself: everything is asked for.
int libusb_interrupt_transfer(
  libusb_device_handle *handle, unsigned char place, unsigned char *bytes, int size, int *count, unsigned int timeout) {
  (void)handle, (void)place, (void)bytes, (void)size, (void)timeout;
  *count = 0;
  return LIBUSB_ERROR_TIMEOUT;
}

static int give(const unsigned char *told, int count, unsigned char *bytes, uint16_t size) {
  if (count > size) count = size;
  memcpy(bytes, told, (size_t)count);
  return count;
}

int libusb_control_transfer(
  libusb_device_handle *handle, uint8_t type, uint8_t request, uint16_t value, uint16_t index, unsigned char *bytes,
  uint16_t size, unsigned int timeout) {
  (void)handle, (void)index, (void)timeout;
  if (type == 0x81 && request == 6 && value >> 8 == 0x21) return give(hid, sizeof hid, bytes, size);
  if (type == 0x81 && request == 6 && value >> 8 == 0x22) return give(ups.descriptor, ups.descriptor_size, bytes, size);
  if (type == 0xA1 && request == 1 && value >> 8 == 3 && ups.report_size[value & 0xFF])
    return give(ups.reports[value & 0xFF], ups.report_size[value & 0xFF], bytes, size);
  return LIBUSB_ERROR_PIPE;
}

// A minute passes with every look at the clock: the driver asks for all reports, and looks for alarms, every 30 seconds only.
time_t time(time_t *told) {
  static time_t now = 1700000000;
  now += 60;
  if (told) *told = now;
  return now;
}
